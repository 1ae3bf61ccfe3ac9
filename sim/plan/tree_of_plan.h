// A plan at a fixed k as one model: the dot product of a row of A and a column of B.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/plan/plan.h"

namespace mmadiff {

// Which factors are 1. Others have no tree, as no node multiplies sums.
struct PlanFactors {
  bool alpha = false, beta = true;
};

// The model of one element of D: a tree (Family::kTree) of k products, or only of those that "cut"
// keeps, in the formats of the operation's operands. Its addend is C, or absent if the plan does
// not read C. nullopt, and the reason in one line, if a tree cannot give the plan's bits.
std::optional<Model> TreeOfPlan(const Plan& plan, int64_t k, std::string* why,
                                const PlanFactors& factors = {});

}  // namespace mmadiff
