// Every pair of operands of an instruction with narrow inputs, as far as time allows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/device.h"
#include "device/stop.h"
#include "triage/explain.h"

namespace mmadiff {

// Inputs of 16 bits or fewer, and a model to compare with.
bool HasOperandSweep(const Operation& op);

// a x b + c in the first term, everything else zero (scales 1.0), for every a, b and c: of inputs
// of 8 bits or fewer c is 0 and, with either sign, a number of every exponent that their products
// have; of wider ones c is 0. Spread over the whole when there is no time for all.
struct OperandSweep {
  uint64_t done = 0, of = 0;         // triples (a, b, c)
  uint64_t differing = 0;            // from the model, under the operation's NaN rule
  std::vector<Observed> first = {};  // that differs; none or one
};

// The triples of one operation, asked of one device or of the same device opened several times, each
// in a thread.
class OperandSweeper {
 public:
  virtual ~OperandSweeper() = default;

  // Asks portions that no other thread has asked, until all are, or the limit is reached, or the
  // device is to stop (StopWhen): but for the very first portion. Errors are the device's; after one
  // no thread asks more.
  virtual absl::Status Work(Device& device) = 0;
  // When all threads have ended. The first error.
  virtual absl::StatusOr<OperandSweep> Result() = 0;
};
std::unique_ptr<OperandSweeper> SweeperOf(const Operation& op, const Model& model,
                                          const TimeLimit& limit, bool slow);

// By one device.
absl::StatusOr<OperandSweep> SweepOperands(Device& device, const Operation& op, const Model& model,
                                           const TimeLimit& limit);

}  // namespace mmadiff
