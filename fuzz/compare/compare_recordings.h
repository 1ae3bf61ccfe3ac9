// Compares two recordings: where their answers differ, and which change of the model reproduces the
// answers of each.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "fuzz/compare/compare_runs.h"

namespace mmadiff {

// Fills everything except the paths. Errors as for ReadRecordings().
absl::Status CompareRecordings(const std::string& first, const std::string& second,
                               RunsDifference& difference);

// Adds the operation to the cause; equal causes are merged.
void AddCause(RunsDifference::Cause cause, const std::string& op, RunsDifference& difference);

}  // namespace mmadiff
