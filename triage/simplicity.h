// The total order in which the minimiser calls one dot product simpler than another.
#pragma once

#include <array>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// Compared from the first count to the last, then by the raw words a, b, c. Counts are over the
// words that are not +0; integers count as a leading one, an exponent and further bits, too. Scales
// count from 2 on unless they are 1.0: zero and NaN scales as specials.
//   0 terms       products with an operand that is not +0
//   1 addend      1 if it is not +0
//   2 specials    1 for each infinity, 2 for each NaN
//   3 bits        set significand bits beyond the leading one, payload bits of NaNs
//   4 length      places from the leading one to the last set bit
//   5 scaled      operands whose exponent is not that of 1.0
//   6 distance    of the exponents from that of 1.0
//   7 negatives   set signs, of zeros too
//   8 positions   sum of the k of the terms of count 0
using Complexity = std::array<int, 9>;

Complexity ComplexityOf(const Model& model, const DotProductCase& dot);

// True when x comes strictly before y.
bool Simpler(const Complexity& cx, const DotProductCase& x, const Complexity& cy,
             const DotProductCase& y);

}  // namespace mmadiff
