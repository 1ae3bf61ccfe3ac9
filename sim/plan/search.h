// All that A, B and D say about the plan.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/plan/find.h"
#include "sim/plan/regions.h"

namespace mmadiff {

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
