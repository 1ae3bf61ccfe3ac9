// A device that is asked about candidates, and how often it was.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "device/device.h"
#include "sim/batch.h"
#include "sim/row.h"

namespace mmadiff {

// Fills the batch with executions first .. first+count-1 of a generator, the same every time.
using Executions = std::function<void(uint64_t first, int64_t count, Batch& batch)>;

class Runner {
 public:
  // After `most` executions it has no more of them to spend: HasBudget() is false.
  Runner(Device& device, const Row& row, int64_t most) : device_(device), row_(row), most_(most) {}

  absl::StatusOr<std::vector<uint64_t>> Run(const Batch& batch);
  // The same for candidates: an execution that the device has no answer for (kNotFound: a
  // recording) gets the model's words, so that it shows no difference.
  absl::StatusOr<std::vector<uint64_t>> Try(const Batch& batch);

  const Row& row() const { return row_; }
  bool IsSlow() const { return device_.IsSlow(); }
  bool StopRequested() const { return device_.StopRequested(); }
  bool HasBudget() const { return left() > 0; }
  int64_t left() const { return most_ - executions_; }
  int64_t executions() const { return executions_; }

 private:
  Device& device_;
  const Row& row_;
  const int64_t most_;
  int64_t executions_ = 0;
};

}  // namespace mmadiff
