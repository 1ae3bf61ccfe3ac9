// The questions that are not about parameters; parts of ProbeRow().
#pragma once

#include <vector>

#include "triage/probe/probe.h"

namespace mmadiff {

// Some dot products, each at every place of an execution, in two executions of two runs.
absl::StatusOr<ProbeAnswer> AskRepeat(Device& device, const Row& row, const Question& question);

// NaNs of every payload of formats of 16 bits or fewer, of each payload bit and a spread of others
// of wider ones, in the first and last element of A and of B, and in C; empty if no format has any.
std::vector<DotProductCase> PayloadCases(const Row& row);
ProbeAnswer PayloadAnswer(const Row& row, const Question& question, const Model& model,
                          std::vector<Observed> observed);

}  // namespace mmadiff
