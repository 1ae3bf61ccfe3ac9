// The boundary classes by the formats of an instruction.
#pragma once

#include <span>

#include "fuzz/strategy.h"

namespace mmadiff {

std::span<const InputClass> FloatClasses();
std::span<const InputClass> ScaledClasses();  // the floating-point ones first
std::span<const InputClass> IntegerClasses();

}  // namespace mmadiff
