// The boundary classes, one table for floating-point and one for integer instructions.
#pragma once

#include <span>

#include "fuzz/strategy.h"

namespace mmadiff {

std::span<const InputClass> FloatClasses();
std::span<const InputClass> IntegerClasses();

}  // namespace mmadiff
