// Whether a device is a function of its operands: the same answer at every position, every time.
#pragma once

#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/probe/probe.h"

namespace mmadiff {

// Asks up to 16 dot products, each at every position of an execution, in two executions of two
// runs. For slow devices see triage/probe/layout.h. Errors are the device's.
absl::StatusOr<ProbeAnswer> AskRepeat(Device& device, const Operation& op,
                                      const Question& question);

}  // namespace mmadiff
