// The engine of the minimiser: takes the proposals of the passes for one dot product, asks the
// device about those that are worth it, and keeps the first that still shows the same difference.
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

  // To a case that no pass makes simpler. True if it changed.
  absl::StatusOr<bool> Reduce(Effort effort);
  const Batch& inputs() const { return inputs_; }

 private:
  bool ApplyAll(std::span<const Pass> passes);  // each while it helps; true if one did
  // The first that helps, while it does.
  bool ApplyFirst(std::span<const Pass> passes, int most_batches);
  bool Leap();                   // from a case that Passes() leave alone
  bool Apply(const Pass& pass);  // true when a proposal was taken
  bool Offer(const DotProductCase& dot);
  bool Ask();                        // the device, about all pending proposals
  bool Spent() const;                // the device was asked often enough
  size_t WordsPerExecution() const;  // of an execution

  Runner& runner_;
  const Target& target_;
  Batch inputs_;
  int64_t element_;
  int most_batches_;      // for one pass, of a predicted device
  bool leaping_ = false;  // the passes at work are those that may be left out
  DotProductCase current_;
  Complexity complexity_;
  std::vector<DotProductCase> pending_;
  std::set<DotProductCase> refused_;      // by the device
  std::set<std::string_view> exhausted_;  // names of passes from scratch
  bool taken_ = false;
  int asked_ = 0;  // times in this pass
  uint64_t offers_ = 0;
  absl::Status status_;
};

}  // namespace mmadiff
