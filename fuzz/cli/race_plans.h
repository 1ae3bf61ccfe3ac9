// `race` of two plans: the smallest product that distinguishes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/output/fields.h"
#include "sim/plan/race.h"

namespace mmadiff {

struct PlanPair {
  Plan x, y;
  PlanRace race;
};
Fields<PlanPair> FieldsOf(const PlanPair*);
std::string PlanPairText(const PlanPair& pair);

// Whether the arguments of `race` are plans.
bool ArePlans(const std::vector<std::string>& arguments);

// kInvalidArgument: not two plans, or plans that cannot be compared.
absl::StatusOr<PlanPair> RaceTwoPlans(const std::vector<std::string>& texts);

}  // namespace mmadiff
