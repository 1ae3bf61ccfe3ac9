// All that A, B and D say about the plan.
#pragma once

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

// As FindPlans().
PlanSearch SearchPlans(const Matrices& matrices, const Words& d, const Format& format,
                       std::span<const Plan> candidates, const Execution& execution = {});

}  // namespace mmadiff
