// Runs every pair of operands of an instruction with narrow inputs, as far as time allows.
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

// Whether the inputs have 16 bits or fewer and there is a model to compare with.
bool HasOperandSweep(const Operation& op);

// a x b + c in the first term, everything else zero (scales 1.0), for every a, b and c. For inputs
// of 8 bits or fewer, c is 0 and, with either sign, a number of every exponent that their products
// have; for wider inputs c is 0. If there is no time for all triples, the ones asked are spread
// over the whole.
struct OperandSweep {
  uint64_t done = 0, of = 0;         // triples (a, b, c)
  uint64_t differing = 0;            // from the model, under the operation's NaN rule
  std::vector<Observed> first = {};  // the first that differs; none or one
};

// The triples of one operation, asked on one device, or on the same device opened several times,
// each in its own thread.
class OperandSweeper {
 public:
  virtual ~OperandSweeper() = default;

  // Asks portions that no other thread has asked, until all are done, the limit is reached, or the
  // device is to stop (StopWhen); the very first portion is always asked. Errors are the device's;
  // after an error no thread asks more.
  virtual absl::Status Work(Device& device) = 0;
  // Call after all threads have ended. Returns the first error.
  virtual absl::StatusOr<OperandSweep> Result() = 0;
};
std::unique_ptr<OperandSweeper> SweeperOf(const Operation& op, const Model& model,
                                          const TimeLimit& limit, bool slow);

// With one device.
absl::StatusOr<OperandSweep> SweepOperands(Device& device, const Operation& op, const Model& model,
                                           const TimeLimit& limit);

}  // namespace mmadiff
