// Plans the number of raw answers in a recording of bounded size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/operation.h"

namespace mmadiff {

// For each operation, the number of executions per strategy to record raw: at least kFewCases, at
// most `cases`, so that all fit into `bytes`. Operations that need less leave their share to the
// others. kInvalidArgument if kFewCases for each operation do not fit.
inline constexpr uint64_t kFewCases = 3;
absl::StatusOr<std::vector<uint64_t>> PlanRawCases(const std::vector<const Operation*>& ops,
                                                   const std::string& identity, uint64_t cases,
                                                   uint64_t bytes);

// Number of executions whose answers fill a few records of a log.
int64_t RawBatchCases(const Operation& op);

// Bytes for the names in one record and for a block's header.
uint64_t RecordOverhead(const Operation& op, const std::string& identity);

}  // namespace mmadiff
