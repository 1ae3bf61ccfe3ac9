// Stored answers of operations without a model: they are counted, and what a device answers now must
// be, bit for bit, what was answered then.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "corpus/recordings/recording.h"
#include "fuzz/ask/asked_device.h"
#include "fuzz/engine/recompute.h"
#include "fuzz/replay/replay.h"

namespace mmadiff {

class UnmodelledReplay {
 public:
  // `device`: nullptr to count alone. `outcome` gets what is found.
  UnmodelledReplay(AskedDevice* device, bool test_results, const TextStyle& style,
                   FirstReports& reports, ReplayOutcome& outcome)
      : device_(device),
        test_results_(test_results),
        style_(style),
        reports_(reports),
        outcome_(outcome) {}

  // Errors are the device's that are not of one operation.
  absl::Status Compare(const Recording& recording);
  absl::Status Compare(const RecomputedUnit& unit);

 private:
  void Add(const std::string& where, const std::optional<ReplayReport>& difference);

  AskedDevice* device_;
  const bool test_results_;
  const TextStyle style_;
  FirstReports& reports_;
  ReplayOutcome& outcome_;
};

}  // namespace mmadiff
