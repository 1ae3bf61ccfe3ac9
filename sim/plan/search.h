// All that the operands and D say about the plan.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/operation.h"
#include "sim/plan/find.h"
#include "sim/plan/regions.h"

namespace mmadiff {

// A product whose plan is sought, besides its matrices. Plans read all operands that have words, and the
// factors that are used.
struct PlanQuestion {
  const Format* d = nullptr;
  const Format* sum = nullptr;  // also of C, bias, scales and factors; needed if there are some
  const Format* block_scale = nullptr;       // of block scales; needed if there are some
  bool has_alpha = false, has_beta = false;  // alpha is not 1, beta is not 0
};

struct PlanCandidates {
  std::vector<Plan> plans;  // WhyNotMatrices() and WhyNotScales() are empty for each
  std::vector<const Operation*> operations;  // of `plans`, and others with their models
  std::string why_none;
};
PlanCandidates CandidatesFor(std::span<const Operation* const> operations, const Matrices& matrices,
                             const PlanQuestion& question);

struct PlanSearch {
  FoundPlans found;
  std::vector<DecidingElements> deciding;  // if D rejects no candidate
  std::optional<Regions> regions;          // if no candidate gives every element
};

// Whether one of so many plans may give so few elements by chance, if half of a bit of each element
// depends on the plan.
inline bool MayBeChance(int64_t elements, int64_t tried) {
  return std::exp2(static_cast<double>(elements) / 2) < static_cast<double>(tried);
}

// As FindPlans().
PlanSearch SearchPlans(const Matrices& matrices, const Words& d, const Format& format,
                       std::span<const Plan> candidates, const Execution& execution = {});

}  // namespace mmadiff
