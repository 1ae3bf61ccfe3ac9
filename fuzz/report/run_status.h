// The progress of a run, read from its folder during or after the run. Nothing is written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/run_record.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/report/run_report.h"

namespace mmadiff {

// The report of one folder, and its rate of progress.
struct RunStatus : RunReport {
  RunFolder folder;
  // Dot products per second, over the whole seconds during which units ran; 0 if unknown.
  double rate = 0;
  double seconds_left = 0;  // at this rate; 0 if all is done or stopped, or nothing is known
  uint64_t last_ended = 0;  // seconds since 1970 UTC; 0 if unknown
  std::string writer;       // process that is writing to the folder; empty if none
};

// `counted` is called for each finished unit. Errors as ReadRunFolder().
absl::StatusOr<RunStatus> ReadRunStatus(const std::string& path, const OnUnit& counted = nullptr);

// Several shards of one run: `total` sums the named shards, `rows` lists stopped instructions, and
// planned_units covers the whole run.
struct ShardsStatus : RunReport {
  double rate = 0;          // sum over the folders that are being written
  double seconds_left = 0;  // maximum over the named shards
};

// kFailedPrecondition, with the difference, unless all folders are shards of one run with the same
// number of shards; kInvalidArgument if a shard appears twice. Needs at least one folder.
absl::StatusOr<ShardsStatus> SumShards(const std::vector<RunStatus>& folders);

}  // namespace mmadiff
