// Every pair of operands of an instruction with narrow inputs, as far as time allows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

// In a thread for each of `devices`, which are one and the same opened so many times, or nullptr
// but for the first. At least one portion, even after the limit or when the device is to stop
// (StopWhen). Errors are the device's.
absl::StatusOr<OperandSweep> SweepOperands(std::span<Device* const> devices, const Operation& op,
                                           const Model& model, const TimeLimit& limit);
inline absl::StatusOr<OperandSweep> SweepOperands(Device& device, const Operation& op,
                                                  const Model& model, const TimeLimit& limit) {
  Device* const one = &device;
  return SweepOperands({&one, 1}, op, model, limit);
}

}  // namespace mmadiff
