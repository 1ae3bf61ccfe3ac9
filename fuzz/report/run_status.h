// Progress of a run, read from its folder alone, during the run or after it. Writes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/run_record.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/report/run_report.h"

namespace mmadiff {

// The report of one folder, and its rate.
struct RunStatus : RunReport {
  RunFolder folder;
  // Dot products per second, over the whole seconds in which a unit was running; 0 if unknown.
  double rate = 0;
  double seconds_left = 0;  // at this rate; 0 if all is done or stopped, or unknown
  uint64_t last_ended = 0;  // seconds since 1970 UTC; 0 if unknown
  std::string writer;       // process that writes to the folder now; empty: none
};

// Calls `counted` for each finished unit. Errors as ReadRunFolder().
absl::StatusOr<RunStatus> ReadRunStatus(const std::string& path, const OnUnit& counted = nullptr);

// Several shards of one run. Totals cover the named shards, and `planned_units` covers all.
// `rows` is meaningful only for stopped rows.
struct ShardsStatus : RunReport {
  double rate = 0;          // sum over the folders that are being written
  double seconds_left = 0;  // for the slowest named shard
};

// `folders` is not empty. kFailedPrecondition, with the difference: they are not shards of one run,
// or their numbers of shards differ. kInvalidArgument: a shard is named twice.
absl::StatusOr<ShardsStatus> SumShards(const std::vector<RunStatus>& folders);

}  // namespace mmadiff
