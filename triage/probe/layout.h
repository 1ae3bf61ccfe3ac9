// Whether every matrix element is where the layout says (device/one_hot.h), and in which shapes a
// device is asked about places.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/probe/probe.h"

namespace mmadiff {

// Hands on the shape of an execution. Of a slow device (Device::IsSlow) first that of a dot product,
// whose places are lines of a program, and then that of an execution only if its `whole` dot
// products take at most ten seconds at the speed of the `alone` ones. Whether executions were asked.
absl::StatusOr<bool> AskShapes(const Device& device, const Operation& op, int64_t alone,
                               int64_t whole, absl::FunctionRef<absl::Status(const Shape&)> ask);

// Errors are the device's.
absl::StatusOr<ProbeAnswer> AskLayout(Device& device, const Operation& op,
                                      const Question& question);

}  // namespace mmadiff
