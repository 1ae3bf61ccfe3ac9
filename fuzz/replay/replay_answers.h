// Compares answers that are stored, or that a device gives now: with the model's, and where an operation has no
// model, those of now with the stored ones, bit for bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/recordings/recording.h"
#include "corpus/regression_case.h"
#include "fuzz/engine/recompute.h"
#include "fuzz/folder/finding_life.h"
#include "fuzz/replay/replay.h"
#include "fuzz/replay/replay_device.h"

namespace mmadiff {

// What the parts of one replay share.
struct ReplayState {
  const ReplayOptions& options;
  ReplayDevice* const device;  // nullptr: stored answers are compared, to vectors the model's
  const TextStyle style;
  OnReport report;
  FirstReports mismatches;  // to `report`: what differs or is flaky
  ReplayOutcome outcome = {};
  std::vector<TestResult> vector_results = {};  // the last of outcome.test_results

  // Enter things in the ledger.
  void Compared(Thing thing, uint64_t count = 1) { outcome.ledger.Count(thing, count, count); }
  void Leave(Thing thing, Reason reason, uint64_t count = 1) {
    outcome.ledger.Count(thing, count, 0);
    outcome.ledger.LeaveMany(thing, reason, count);
  }
};

// All of these return the device's errors that do not concern one operation alone. An operation that has a model and
// that the device lacks is an error too, except `in_folder`: there it is counted and left out.
absl::Status CompareRecording(const Recording& recording, bool in_folder, ReplayState& replay);
// Returns the gravest of what its answers say; nothing if none was compared.
absl::StatusOr<std::optional<Replayed>> CompareCase(const RegressionCase& c,
                                                    const std::string& file, bool in_folder,
                                                    ReplayState& replay);
absl::Status CompareUnit(const RecomputedUnit& unit, ReplayState& replay);
// Compares the device's answers to inputs without a stored one. Errors as outside a folder.
absl::StatusOr<std::optional<Replayed>> CompareAnswersNow(const Operation& op, const Batch& inputs,
                                                          const StoredAt& where,
                                                          ReplayState& replay);

}  // namespace mmadiff
