// Records a run, finished or not: for each instruction one digest of the answers in its finished units,
// from case 0 to the first missing unit. The device is not asked again; `mmadiff replay` compares the
// digests with the model, or with another device.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/ledger.h"
#include "corpus/recordings/recording_folder.h"
#include "fuzz/record/record.h"

namespace mmadiff {

struct RecordedRun {
  RecordOutcome outcome;
  RecordingManifest manifest;
  std::vector<std::string> damage;    // of the run's folders; undamaged data was used
  std::vector<std::string> warnings;  // why an instruction is recorded only in part or not at all
};

// Creates the folder `out` from the folders of a run, all its shards. Records the instructions whose
// answers repeated if their names match `globs` (sim/pattern.h); the ledger has the others. Errors:
// kInvalidArgument if a folder is not of the run, a shard is missing, no name matches, or earlier
// answers chose the cases; otherwise as RecordFolder(). Nothing is written if no instruction can be
// recorded.
absl::StatusOr<RecordedRun> RecordRun(const std::vector<std::string>& folders,
                                      const std::string& globs, const std::string& out,
                                      Ledger& ledger);

}  // namespace mmadiff
