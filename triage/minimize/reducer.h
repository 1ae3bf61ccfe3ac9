// The engine of the minimizer: takes the proposals of the passes for one dot product, asks the
// device about the worthwhile ones, and keeps the first that still shows the same difference.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/batch.h"
#include "triage/minimize/passes.h"
#include "triage/minimize/simplicity.h"
#include "triage/minimize/target.h"
#include "triage/runner.h"

namespace mmadiff {

enum class Effort {
  kNarrow,  // without WidePasses()
  kAll,
};

// Shrinks the dot product of one element; all else of the execution stays as in `background`.
class Reducer {
 public:
  // `background` has count 1.
  Reducer(Runner& runner, const Target& target, const Batch& background, int64_t element);

  // Shrinks until no pass makes the case simpler. Returns whether it changed.
  absl::StatusOr<bool> Reduce(Effort effort);
  const Batch& inputs() const { return inputs_; }

 private:
  bool ApplyAll(std::span<const Pass> passes);  // each while it helps; whether one did
  // Only the first pass that helps, while it does.
  bool ApplyFirst(std::span<const Pass> passes, int most_batches);
  bool Leap();                   // from a case that Passes() cannot simplify
  bool Apply(const Pass& pass);  // whether a proposal was taken
  bool Offer(const DotProductCase& dot);
  bool Ask();                        // the device, about all pending proposals
  bool Spent() const;                // whether the device's share of executions is used up
  size_t WordsPerExecution() const;  // input words

  Runner& runner_;
  const Target& target_;
  Batch inputs_;
  int64_t element_;
  int most_batches_;      // limit for one pass on a predicted device
  bool leaping_ = false;  // whether the current passes are optional ones
  DotProductCase current_;
  Complexity complexity_;
  std::vector<DotProductCase> pending_;
  std::set<DotProductCase> refused_;      // by the device
  std::set<std::string_view> exhausted_;  // names of passes that start from scratch
  bool taken_ = false;
  int asked_ = 0;  // batches asked in this pass
  uint64_t offers_ = 0;
  absl::Status status_;
};

}  // namespace mmadiff
