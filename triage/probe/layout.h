// Whether every matrix element is where the layout says (device/one_hot.h), and the shapes in which
// positions are checked.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/probe/probe.h"

namespace mmadiff {

inline constexpr double kMaxSlowSeconds = 10;  // for the longer part of a question to a slow device

// Calls `ask` with the shape of an execution. On a slow device (Device::IsSlow) it first calls
// `ask` with the shape of a dot product, whose positions are lines of a program, and then with the
// shape of an execution only if its `whole` dot products take at most ten seconds at the speed of
// the `alone` ones. Returns whether `ask` was called with executions.
absl::StatusOr<bool> AskShapes(const Device& device, const Operation& op, int64_t alone,
                               int64_t whole, absl::FunctionRef<absl::Status(const Shape&)> ask);

// Errors are the device's.
absl::StatusOr<ProbeAnswer> AskLayout(Device& device, const Operation& op,
                                      const Question& question);

// Whether the model's own sums lose bits of the words that name elements: a narrow accumulator.
bool LosesBitsOfWords(const Operation& op);

}  // namespace mmadiff
