// The engine of the minimiser: takes the proposals of the passes for one dot product, asks the
// device about those that are worth it, and keeps the first that still shows the same difference.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/device.h"
#include "sim/batch.h"
#include "sim/parameter.h"
#include "sim/row.h"
#include "triage/passes.h"
#include "triage/simplicity.h"

namespace mmadiff {

// Words of the device for executions of the row; counts them.
class Runner {
 public:
  Runner(Device& device, const Row& row) : device_(device), row_(row) {}
  absl::StatusOr<std::vector<uint64_t>> Run(const Batch& batch);
  // The same for candidates: an execution that the device has no answer for (kNotFound: a
  // recording) gets the model's words, so that it shows no difference.
  absl::StatusOr<std::vector<uint64_t>> Try(const Batch& batch);
  const Row& row() const { return row_; }
  int64_t executions() const { return executions_; }

 private:
  Device& device_;
  const Row& row_;
  int64_t executions_ = 0;
};

// The difference that must remain: the signature of the original mismatch.
class Target {
 public:
  Target(const Row& row, const DotProductCase& dot, uint64_t device);

  const std::string& signature() const { return signature_; }
  // True when one changed parameter explains the original.
  bool explained() const { return explaining_ >= 0; }
  // Without the device: could it differ in the same way, answering as the explanation does? Always
  // true when nothing explains the original.
  bool Possible(const DotProductCase& dot) const;
  // With its answer.
  bool Holds(const DotProductCase& dot, uint64_t device) const;

 private:
  const Row& row_;
  std::vector<Model> neighbours_;  // up to the explaining one
  int explaining_ = -1;
  std::string signature_;
};

// Shrinks the dot product of one element; all else of the execution stays as in `background`.
class Reducer {
 public:
  // `background` has count 1.
  Reducer(Runner& runner, const Target& target, const Batch& background, int64_t element);

  // To a case that no pass makes simpler. True if it changed.
  absl::StatusOr<bool> Reduce();
  const Batch& inputs() const { return inputs_; }

 private:
  bool Apply(const Pass& pass);  // true when a proposal was taken
  bool Offer(const DotProductCase& dot);
  bool Ask();  // the device, about all pending proposals

  Runner& runner_;
  const Target& target_;
  Batch inputs_;
  int64_t element_;
  DotProductCase current_;
  Complexity complexity_;
  std::vector<DotProductCase> pending_;
  std::set<DotProductCase> refused_;      // by the device
  std::set<std::string_view> exhausted_;  // names of passes from scratch
  bool taken_ = false;
  int asked_ = 0;  // times in this pass
  absl::Status status_;
};

}  // namespace mmadiff
