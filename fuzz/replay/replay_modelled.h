// Answers of operations with a model: those that are stored, or that a device gives now, are compared
// with the model's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "corpus/recordings/recording.h"
#include "corpus/regression_case.h"
#include "fuzz/ask/asked_device.h"
#include "fuzz/engine/recompute.h"
#include "fuzz/folder/finding_life.h"
#include "fuzz/replay/replay.h"

namespace mmadiff {

class ModelledReplay {
 public:
  // `device`: nullptr to compare what is stored. `outcome` gets what is found.
  ModelledReplay(AskedDevice* device, bool test_results, const TextStyle& style,
                 FirstReports& reports, ReplayOutcome& outcome)
      : device_(device),
        test_results_(test_results),
        style_(style),
        reports_(reports),
        outcome_(outcome) {}

  // Errors are the device's that are not of one operation, and, unless it is `in_folder`, that the
  // device lacks the operation.
  absl::Status Compare(const Recording& recording, const Batch& inputs, bool in_folder);
  absl::Status Compare(const RegressionCase& c, const std::string& file, bool in_folder);
  absl::Status Compare(const RecomputedUnit& unit);
  // Inputs without a stored answer, of a device.
  absl::Status Ask(const Operation& op, const Batch& inputs, const StoredAt& where);

  // Of the last regression case, by all its answers; nothing if there was none.
  std::optional<Replayed> said() const { return said_; }
  uint64_t cases() const { return cases_; }              // compared, at least a part
  uint64_t flaky_cases() const { return flaky_cases_; }  // all that was asked
  uint64_t dropped_cases() const { return dropped_cases_; }
  uint64_t dropped_units() const { return dropped_units_; }

 private:
  absl::Status Take(const absl::StatusOr<std::optional<AskedAnswers>>& answers, const Operation& op,
                    const Batch& inputs, const StoredAt& where);
  void Add(const Operation& op, const Batch& inputs, const AskedAnswers& answers,
           const StoredAt& where, const std::string& answering);
  ReplayReport Mismatch(const Operation& op, const DotProductCase& dot, uint64_t model,
                        const Answers& said, int64_t element, const std::string& where,
                        const std::string& device) const;
  void Add(const RecomputedUnit& unit, Digest digest, const std::string& device, bool flaky);

  AskedDevice* const device_;
  const bool test_results_;
  const TextStyle style_;
  FirstReports& reports_;
  ReplayOutcome& outcome_;
  std::optional<Replayed> said_;
  uint64_t cases_ = 0, flaky_cases_ = 0, dropped_cases_ = 0, dropped_units_ = 0;
};

}  // namespace mmadiff
