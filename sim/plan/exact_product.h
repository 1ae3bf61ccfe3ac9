// Exact sums of products, against which the error of a plan is measured.
#pragma once

#include <cstdint>

#include "sim/parts.h"
#include "sim/plan/matrices.h"

namespace mmadiff {

// Element (i, j) of A B without rounding, as high + low, f64 words: `high` is the sum rounded to nearest
// even, `low` the rest, rounded again. A sum of infinities and NaNs has their sum in `high`. Only
// m, n, k, a, b and their formats are read, which must be floating-point formats.
void ExactProduct(const Matrices& matrices, const MutableWords& high, const MutableWords& low,
                  const Threads& threads = {});

}  // namespace mmadiff
