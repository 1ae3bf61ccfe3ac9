// The total order by which the minimizer decides that one dot product is simpler than another.
#pragma once

#include <array>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// Compared from the first count to the last, then by the raw words a, b, c. Counts cover the words
// that are not +0; integers also count as a leading one, an exponent and further bits. Scales other
// than 1.0 count as operands from count 3 on, zero scales as specials.
//   0 terms       products with an operand that is not +0
//   1 scales      scales that are not 1.0
//   2 addend      1 if it is not +0
//   3 specials    1 for each infinity, 2 for each NaN
//   4 bits        set significand bits beyond the leading one, payload bits of NaNs
//   5 length      places from the leading one to the last set bit
//   6 scaled      operands whose exponent is not that of 1.0
//   7 distance    of the exponents from that of 1.0
//   8 negatives   set signs, of zeros too
//   9 positions   sum of the k of the terms in count 0
using Complexity = std::array<int, 10>;

Complexity ComplexityOf(const Model& model, const DotProductCase& dot);

// Whether x comes strictly before y.
bool Simpler(const Complexity& cx, const DotProductCase& x, const Complexity& cy,
             const DotProductCase& y);

}  // namespace mmadiff
