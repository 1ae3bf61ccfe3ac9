// Whether instructions read the modes that set rounding and subnormals for other arithmetic
// (device/mode.h).
#pragma once

#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/probe/probe.h"

namespace mmadiff {

// Runs the same 1024 or so generated dot products in each of the device's modes, and again without
// a mode. A result that changes shows that the instruction reads that mode; the answer is then
// open, because the tables describe the modes that a program starts with. Errors are the device's;
// on return no mode is set.
absl::StatusOr<ProbeAnswer> AskModes(Device& device, const Operation& op, const Question& question);

}  // namespace mmadiff
