// Whether instructions read what sets rounding and subnormals for other arithmetic (device/mode.h).
#pragma once

#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/probe/probe.h"

namespace mmadiff {

// The same 1024 or so generated dot products under each of the device's modes, and again without: a
// result that has changed reads that mode. Open then, for the tables are of the modes that a program
// starts with. Errors are the device's; on return it is in no mode.
absl::StatusOr<ProbeAnswer> AskModes(Device& device, const Operation& op, const Question& question);

}  // namespace mmadiff
