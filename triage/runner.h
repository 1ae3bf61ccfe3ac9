// Asks a device about candidates and counts the executions.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "device/device.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

class Runner {
 public:
  // After `most` executions (`most_slow` while the device is slow) the budget is spent and
  // HasBudget() is false. The device is queried about `asked` if op's model is not its own.
  Runner(Device& device, const Operation& op, int64_t most, int64_t most_slow,
         const Operation* asked = nullptr)
      : device_(device),
        op_(op),
        asked_(asked == nullptr ? op : *asked),
        most_(most),
        most_slow_(most_slow) {}
  Runner(Device& device, const Operation& op, int64_t most) : Runner(device, op, most, most) {}

  // An InputFailure is returned as an error.
  absl::StatusOr<std::vector<uint64_t>> Run(const Batch& batch);
  // An InputFailure is returned as an answer. After kMaxEnds failures that end a process, the
  // answers stop.
  absl::StatusOr<Answers> Observe(const Batch& batch);
  // The same for candidates. A dot product for which the device has no word (kNotFound for an
  // execution: a recording; an InputFailure) gets the model's word, so that it shows no difference.
  absl::StatusOr<std::vector<uint64_t>> Try(const Batch& batch);

  const Operation& op() const { return op_; }
  // Before anything ran: the device's own IsSlow(). Afterwards: more than a millisecond per dot
  // product on average, or more than ten seconds in all.
  bool IsSlow() const;
  bool StopRequested() const { return device_.StopRequested(); }
  bool HasBudget() const { return left() > 0; }
  int64_t left() const { return (IsSlow() ? most_slow_ : most_) - kept_ - executions_; }
  // Reserves this many executions for later; left() no longer includes them.
  void KeepBack(int64_t executions) { kept_ = executions; }
  int64_t executions() const { return executions_; }

 private:
  static constexpr int kMaxEnds = 16;

  absl::Status Ask(const Batch& batch, Answers& answers);

  Device& device_;
  const Operation &op_, &asked_;
  const int64_t most_, most_slow_;
  int64_t executions_ = 0, kept_ = 0, dot_products_ = 0;
  int ends_ = 0;              // processes that ended because of their inputs
  absl::Duration used_ = {};  // time spent in the device
};

}  // namespace mmadiff
