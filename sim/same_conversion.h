// Whether a conversion with a changed parameter gives the same words, decided by cases.
#pragma once

#include <string>

#include "sim/algorithm.h"

namespace mmadiff {

// "" if an operand distinguishes the conversions, else the reason why none does. Exact: it tries an
// operand of each kind, where kinds are all that a conversion distinguishes (exponent, first and
// last kept bit, lost bits below, at or above half, specials).
std::string WhySameConversion(const Model& model, const Algorithm& changed);

}  // namespace mmadiff
