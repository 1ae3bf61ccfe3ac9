// Whether a device is a function of the operands: the same answer at every place, every time.
#pragma once

#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/probe/probe.h"

namespace mmadiff {

// Up to 16 dot products, each at every place of an execution, in two executions of two runs; what a
// slow device is asked is in triage/probe/layout.h. Errors are the device's.
absl::StatusOr<ProbeAnswer> AskRepeat(Device& device, const Operation& op,
                                      const Question& question);

}  // namespace mmadiff
