// Exact sums of products, against which the error of a plan is measured.
#pragma once

#include <cstdint>

#include "sim/parts.h"
#include "sim/plan/matrices.h"

namespace mmadiff {

inline constexpr int64_t kMaxExactK = int64_t{1} << 31;  // carries of more terms have no room

// Element (i, j) of A B without rounding, as high + low, f64 words: `high` is the sum rounded to nearest
// even, `low` the rest, rounded again. A sum of infinities and NaNs has their sum in `high`. Only
// m, n, k, a, b and their formats are read, which must be floating-point formats. k is at most kMaxExactK.
void ExactProduct(const Matrices& matrices, const MutableWords& high, const MutableWords& low,
                  const Threads& threads = {});

}  // namespace mmadiff
