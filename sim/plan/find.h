// The inverse: which plans give a known result. Candidates are executed on a few elements that
// distinguish plans, and the remaining ones on all elements.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/plan/execute.h"
#include "sim/plan/plan.h"
#include "sim/plan/witness.h"

namespace mmadiff {

// Elements of D that were compared first, with the plans that they were the first to reject.
struct Witness {
  MatrixElement element;
  int64_t rejected = 0;
};

inline constexpr size_t kMaxFoundPlans = 64;
struct FoundPlans {
  std::vector<Plan> plans;  // each gives every element of D
  // More candidates that give the witnesses; not compared on all elements, because kMaxFoundPlans were
  // found.
  std::vector<Plan> unsettled;

  // All that D does not reject.
  std::vector<Plan> Left() const;
  int64_t tried = 0;
  std::vector<Witness> witnesses;
  // Without such plans: the candidate that gives most of the compared elements, how many elements of D
  // it does not give, and the first of these.
  Plan nearest;
  int64_t differing = 0;
  MatrixElement first;
};

// D has m x n words of `format`, to which all candidates must lead; WhyNotMatrices() must be empty for
// each. Two NaNs are equal. Candidates must not be empty.
FoundPlans FindPlans(const Matrices& matrices, const Words& d, const Format& format,
                     std::span<const Plan> candidates, const Execution& execution = {});

// How many plans random operands would leave, with the first candidate's result: for growing D, until
// one is left or D has kMaxDecidingElements.
struct DecidingElements {
  int64_t elements = 0;  // of D
  int64_t plans = 0;     // that reproduce all of them
};
inline constexpr int64_t kMaxDecidingElements = 1 << 12;
std::vector<DecidingElements> WouldDecide(const Matrices& matrices, const Format& format,
                                          std::span<const Plan> candidates,
                                          const Execution& execution = {});

inline bool SameResult(const Format& f, uint64_t x, uint64_t y) {
  return x == y || (IsNan(f, x) && IsNan(f, y));
}

struct MatrixDifference {
  int64_t count = 0;
  MatrixElement first;
};
// Elements whose words differ; two NaNs are equal.
MatrixDifference CompareWords(const Format& format, int64_t m, int64_t n, const Words& x,
                              const Words& y);
// The words of D that the plan does not give.
MatrixDifference CompareWithPlan(const Plan& plan, const Matrices& matrices, const Words& d,
                                 const Execution& execution = {});

}  // namespace mmadiff
