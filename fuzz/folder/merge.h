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
  RunManifest manifest;            // WholeRun()
  std::vector<UnitResult> totals;  // by instruction
  uint64_t units = 0, planned_units = 0;
  uint64_t folders = 0;               // folders read, including OUT if it existed
  uint64_t findings = 0;              // buckets in OUT
  uint64_t distrusted = 0;            // lines
  std::vector<std::string> dropped;   // "INSTRUCTION: why", from the last attempt in a folder
  std::vector<std::string> damage;    // data that was skipped; all other data was merged
  std::vector<std::string> warnings;  // warnings other than damage
};

// The manifest of the whole run as shard 0 of 1. If cases were raised, it keeps only the original
// number, so that the number of extensions does not matter.
RunManifest WholeRun(RunManifest manifest);

// Merges the folders `in`, and `out` if it exists, into `out`. A run may be writing to a folder of
// `in`: its logs are read as they are. After a kill at any moment `out` has a subset of the units;
// merging again completes it. Memory: about 150 bytes per unit, and the findings.
//
// A folder of `in` whose run has not begun is a warning; a folder that is not of a run is damage.
// kInvalidArgument: no folder of a run is left. kFailedPrecondition: folders of different runs,
// with the difference; `out` is a shard, or a process is writing to it. kAborted: two answers to
// one unit, with both machines. After these errors nothing in `out` was changed. kDataLoss: a file
// cannot be read or written; `not_durable` is true for the latter. `shared` and its errors: as in
// CheckOwner().
absl::StatusOr<Merged> MergeRuns(const std::string& out, const std::vector<std::string>& in,
                                 bool& not_durable, bool shared = false);

}  // namespace mmadiff
