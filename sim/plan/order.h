// The order of a plan's sums for one k: when two plans compute the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/plan/plan.h"

namespace mmadiff {

// The plan's order of k products as text. Plans of one operation with equal texts give equal bits.
std::string OrderAt(const Plan& plan, int64_t k);

// A step of a "tree" or "pairs" join: place i + distance, if below `places`, is added to place i.
struct TreeStep {
  int64_t distance = 0, places = 0;
};
std::vector<TreeStep> TreeStepsOf(const PlanJoin& join, int64_t places);

}  // namespace mmadiff
