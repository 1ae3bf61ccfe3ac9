// Which bits of NaN operands reach the result.
#pragma once

#include <vector>

#include "triage/probe/probe.h"

namespace mmadiff {

// NaNs of every payload of formats of 16 bits or fewer, of each payload bit and a spread of others
// of wider ones, in the first and last element of A and of B, and in C; empty if no format has any.
std::vector<DotProductCase> PayloadCases(const Operation& op);

// What the device's answers to PayloadCases() say, compared with the operation's model.
ProbeAnswer PayloadAnswer(const Operation& op, const Question& question,
                          std::vector<Observed> observed);

}  // namespace mmadiff
