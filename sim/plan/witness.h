// Which elements of D say most about its plan: those where a small change of the sum changes the result.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/execute.h"
#include "sim/plan/matrices.h"
#include "sim/plan/plan.h"

namespace mmadiff {

struct MatrixElement {
  int64_t row = 0, column = 0;
  friend bool operator==(const MatrixElement&, const MatrixElement&) = default;
};

// For each element [row * n + column]: -1 where D is not the plan's (two NaNs are equal if any_nan),
// else how near the plan's sum is to one with another result, as the logarithm of ulps, up to kMaxRank.
// D may have no words.
inline constexpr int64_t kMaxRank = 12;
std::vector<int64_t> RanksOf(const Plan& plan, const Matrices& matrices, const Words& d,
                             bool any_nan, const Execution& execution = {});

// `count` different elements, or all, of least rank among random rows and columns, of which there are
// kSampled elements for each. Where results are not rounded, any of these.
inline constexpr int64_t kSampled = 1024;
std::vector<MatrixElement> WitnessesOf(const Plan& plan, const Matrices& matrices, const Words& d,
                                       int64_t count, uint64_t seed, bool any_nan,
                                       const Execution& execution = {});

}  // namespace mmadiff
