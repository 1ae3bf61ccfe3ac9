// How far a run is, from its folder alone: while it runs or after. Nothing is written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/run_record.h"

namespace mmadiff {

// More of an instruction than any run can do: of --forever.
inline constexpr uint64_t kEndlessCases = uint64_t{1} << 60;

struct RunStatus {
  std::string path;
  RunManifest manifest;
  uint64_t units = 0, planned_units = 0;  // of the shard
  bool endless = false;                   // of --forever: planned_units says nothing
  UnitResult total;                       // of all instructions
  uint64_t planned_dot_products = 0;
  // Dot products a second, over the whole seconds in which a unit was at work; 0 if not known.
  double rate = 0;
  double seconds_left = 0;  // at this rate; 0 if all is done or nothing is known
  uint64_t last_ended = 0;  // seconds since 1970 UTC; 0 if not known
  uint64_t findings = 0;
  std::vector<std::string> distrusted;
  std::vector<std::string> machines;  // that did units, sorted
  std::string writer;                 // who writes there now; empty: nobody
  std::vector<std::string> damage;    // two answers to one unit, too
};

// kInvalidArgument: no folder of a run. All that is damaged but the manifest (kDataLoss) is in
// `damage`.
absl::StatusOr<RunStatus> ReadRunStatus(const std::string& path);

inline constexpr size_t kMostMissing = 10000;  // a file may say that there are any number

// The shards of one run together.
struct ShardsStatus {
  uint64_t units = 0, planned_units = 0;  // of all shards
  UnitResult total;
  double rate = 0;                // of those that are being written
  double seconds_left = 0;        // of the shard that takes longest; of those that are named
  std::vector<uint64_t> missing;  // shards that are not named, the first kMostMissing
  uint64_t shards = 1;
};

// kFailedPrecondition, with the difference, unless the folders are shards of one run, all of the same
// number; kInvalidArgument for a shard that comes twice. At least one folder.
absl::StatusOr<ShardsStatus> SumShards(const std::vector<RunStatus>& folders);

}  // namespace mmadiff
