// Which bits of NaN operands reach the result.
#pragma once

#include <vector>

#include "triage/probe/probe.h"

namespace mmadiff {

// NaNs in the first and last element of A and of B, and in C; empty if no format has NaNs. Formats
// of 16 bits or fewer: every payload. Wider formats: each payload bit and a spread of other
// payloads.
std::vector<DotProductCase> PayloadCases(const Operation& op);

// The question's answer from the device's answers to PayloadCases(), compared with the operation's
// model.
ProbeAnswer PayloadAnswer(const Operation& op, const Question& question,
                          std::vector<Observed> observed);

}  // namespace mmadiff
