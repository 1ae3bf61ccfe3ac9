// Whether a plan can be executed.
#pragma once

#include <string>

#include "sim/plan/plan.h"

namespace mmadiff {

// Why the plan cannot be executed; empty if it can. ParsePlan() gives only plans that can.
std::string WhyNoPlan(const Plan& plan);

}  // namespace mmadiff
