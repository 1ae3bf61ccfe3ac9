// Few plans for many shapes: the plans of a library, where those of a single shape are ambiguous.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "triage/plan/shape_plans.h"

namespace mmadiff {

// Small shapes leave several orders possible. Finds few plans that explain these shapes, each of them
// needed for some, and asks each shape again with these alone. Shapes that they do not explain keep
// their plans.
absl::Status PreferFewPlans(MatrixDevice& device, uint64_t seed, int products,
                            const Execution& execution, std::vector<ShapePlans>& asked);

// The plans of these shapes, those of most shapes first.
struct UsedPlan {
  Plan plan;
  int64_t shapes = 0;  // in which it is a plan of some element
};
std::vector<UsedPlan> UsedPlans(std::span<const ShapePlans> asked);

}  // namespace mmadiff
