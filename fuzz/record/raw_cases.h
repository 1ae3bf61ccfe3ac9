// How many raw answers a recording of bounded size has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/operation.h"

namespace mmadiff {

// The number of executions of each strategy that are recorded raw of each operation: at least
// kFewCases, at most `cases`, so that all fit `bytes`. Operations that need less leave their share
// to the others. kInvalidArgument when a few of each do not fit.
inline constexpr uint64_t kFewCases = 3;
absl::StatusOr<std::vector<uint64_t>> PlanRawCases(const std::vector<const Operation*>& ops,
                                                   const std::string& identity, uint64_t cases,
                                                   uint64_t bytes);

// Executions whose answers fill a few records of a log.
int64_t RawBatchCases(const Operation& op);

// Bytes of the names in one record, and of a block's header.
uint64_t RecordOverhead(const Operation& op, const std::string& identity);

}  // namespace mmadiff
