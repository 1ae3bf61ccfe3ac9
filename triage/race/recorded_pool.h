// Recorded answers as the pool of Identify().
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "triage/race/identify.h"

namespace mmadiff {

// Dot products of the operations in `path` (as of `recorded:`), at most 16384 of each operation and
// 8 of each execution. Errors as ReadRecordings(); kOutOfRange when there are none.
absl::StatusOr<std::vector<PoolCase>> RecordedPool(const std::string& path,
                                                   const std::vector<const Operation*>& ops);

}  // namespace mmadiff
