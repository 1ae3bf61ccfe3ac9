// The union of folders of one run: shards, attempts on other machines, copies. Commutative,
// associative and idempotent: the same units give the same log, byte for byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/run_record.h"

namespace mmadiff {

struct Merged {
  RunManifest manifest;            // of the whole run
  std::vector<UnitResult> totals;  // by instruction
  uint64_t units = 0, planned_units = 0;
  uint64_t folders = 0;               // that were read, OUT too if it was there
  uint64_t findings = 0;              // buckets of OUT
  uint64_t distrusted = 0;            // lines
  std::vector<std::string> dropped;   // "INSTRUCTION: why", by the last attempt of a folder
  std::vector<std::string> damage;    // what was passed over; all else was merged
  std::vector<std::string> warnings;  // what is no damage
};

// The same run undivided, shard 0 of 1, with its first cases alone of those that were raised: in how
// many steps each folder was extended does not matter.
RunManifest WholeRun(RunManifest manifest);

// Merges the folders `in`, and `out` if it is there, into `out`. A run may be writing to a folder of
// `in`: what is in its logs is read. A kill at any moment leaves units in `out` that may be fewer;
// merging again completes them. Memory: some 150 bytes a unit, and the findings.
//
// A folder of `in` that has not begun is a warning, one that is none of a run is damage. kInvalidArgument: no folder of a
// run is left. kFailedPrecondition: folders of different runs, with the
// difference; `out` is a shard, or somebody writes there. kAborted: two answers to one unit, with
// both machines. After these nothing in `out` was changed. kDataLoss: what cannot be read or written;
// `not_durable` is true for the latter. `shared` and its errors: of CheckOwner().
absl::StatusOr<Merged> MergeRuns(const std::string& out, const std::vector<std::string>& in,
                                 bool& not_durable, bool shared = false);

}  // namespace mmadiff
