// The order of a plan's sums for one k: when two plans compute the same.
#pragma once

#include <cstdint>
#include <string>

#include "sim/plan/plan.h"

namespace mmadiff {

// The plan's order of k products as text. Plans of one operation with equal texts give equal bits.
std::string OrderAt(const Plan& plan, int64_t k);

}  // namespace mmadiff
