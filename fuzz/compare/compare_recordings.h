// Two recordings: where do their answers differ, and which change of the model gives those of each?
#pragma once

#include <string>

#include "absl/status/status.h"
#include "fuzz/compare/compare_runs.h"

namespace mmadiff {

// Fills all but the paths. Errors as ReadRecordings().
absl::Status CompareRecordings(const std::string& first, const std::string& second,
                               RunsDifference& difference);

// Adds the operation to the cause of both; the same cause again is one.
void AddCause(RunsDifference::Cause cause, const std::string& op, RunsDifference& difference);

}  // namespace mmadiff
