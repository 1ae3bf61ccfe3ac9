// Recorded answers as the pool for Identify().
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "triage/race/identify.h"

namespace mmadiff {

// Dot products of the operations in `path` (a path as for `recorded:`), at most 16384 for each
// operation and 8 for each execution. Errors as for ReadRecordings(); kOutOfRange if nothing can be
// used.
absl::StatusOr<std::vector<PoolCase>> RecordedPool(const std::string& path,
                                                   const std::vector<const Operation*>& ops);

}  // namespace mmadiff
