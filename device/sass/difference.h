// Where two programs begin to compute different things.
#pragma once

#include <string>

#include "device/sass/expressions.h"
#include "device/sass/origins.h"

namespace mmadiff::sass {

// A sentence: "FADD R7, R7, R6 at 0x200 reads the result of FADD R6, R6, R5 at 0x1f0; it should read
// c[3]". `got` of the program `code` and `wanted` of `reference`, both of `pool`, must be different.
std::string DifferenceText(const Expressions& pool, const Origins& code, int got,
                           const Origins& reference, int wanted);

}  // namespace mmadiff::sass
