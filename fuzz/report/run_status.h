// How far a run is, from its folder alone: while it runs or after. Nothing is written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/run_record.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/report/run_report.h"

namespace mmadiff {

// The report of one folder, and how fast it grows.
struct RunStatus : RunReport {
  RunFolder folder;
  // Dot products a second, over the whole seconds in which a unit was at work; 0 if not known.
  double rate = 0;
  double seconds_left = 0;  // at this rate; 0 if all is done or stopped, or nothing is known
  uint64_t last_ended = 0;  // seconds since 1970 UTC; 0 if not known
  std::string writer;       // who writes there now; empty: nobody
};

// `counted` sees each unit that is done. Errors as ReadRunFolder().
absl::StatusOr<RunStatus> ReadRunStatus(const std::string& path, const OnUnit& counted = nullptr);

// The shards of one run together: of those that are named the total, and in `rows` what was stopped; units of all.
struct ShardsStatus : RunReport {
  double rate = 0;          // of those that are being written
  double seconds_left = 0;  // of the shard that takes longest; of those that are named
};

// kFailedPrecondition, with the difference, unless the folders are shards of one run, all of the same
// number; kInvalidArgument for a shard that comes twice. At least one folder.
absl::StatusOr<ShardsStatus> SumShards(const std::vector<RunStatus>& folders);

}  // namespace mmadiff
