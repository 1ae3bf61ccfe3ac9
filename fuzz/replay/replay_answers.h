// Compares stored answers, or a device's current answers, with the model's. For an operation
// without a model, compares the current answers with the stored ones, bit for bit.
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

// State shared by the parts of one replay.
struct ReplayState {
  const ReplayOptions& options;
  ReplayDevice* const device;  // nullptr: compare stored answers; for vectors the model's
  const TextStyle style;
  OnReport report;
  FirstReports mismatches;  // passes mismatches and flaky answers to `report`
  ReplayOutcome outcome = {};
  std::vector<TestResult> vector_results = {};  // the last of outcome.test_results

  // Enters things in the ledger.
  void Compared(Thing thing, uint64_t count = 1) { outcome.ledger.Count(thing, count, count); }
  void Leave(Thing thing, Reason reason, uint64_t count = 1) {
    outcome.ledger.Count(thing, count, 0);
    outcome.ledger.LeaveMany(thing, reason, count);
  }
};

// All of these return device errors that do not concern a single operation. If the device lacks an
// operation that has a model, that is also an error, unless `in_folder`: then it is counted and
// left out.
absl::Status CompareRecording(const Recording& recording, bool in_folder, ReplayState& replay);
// Returns the gravest result of its answers; nothing if none was compared.
absl::StatusOr<std::optional<Replayed>> CompareCase(const RegressionCase& c,
                                                    const std::string& file, bool in_folder,
                                                    ReplayState& replay);
absl::Status CompareUnit(const RecomputedUnit& unit, ReplayState& replay);
// Compares the device's answers to inputs that have no stored answer. Errors as outside a folder.
absl::StatusOr<std::optional<Replayed>> CompareAnswersNow(const Operation& op, const Batch& inputs,
                                                          const StoredAt& where,
                                                          ReplayState& replay);

}  // namespace mmadiff
