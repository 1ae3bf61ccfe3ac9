// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

#include "sim/format.h"

namespace mmadiff {

// (-1)^negative * magnitude * 2^lsb_exponent: "1.0", "0.375", "-2^-25", "1 - 2^-24", "5 * 2^-30";
// what has no such form is rounded: "~0.100000001". Zero is "+0" or "-0".
std::string NumberText(bool negative, unsigned __int128 magnitude, int lsb_exponent);

// The same of a word; integers in decimal, "inf", "-inf", "nan(0x...)".
std::string NumberText(const Format& format, uint64_t word);

std::string WordText(const Format& format, uint64_t word);  // "0x3f800000 = 1.0"

// The value of a word, exactly; NaN of an infinity or a NaN.
long double NumberOf(const Format& format, uint64_t word);

}  // namespace mmadiff
