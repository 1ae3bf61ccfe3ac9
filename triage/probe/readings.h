// Vectors whose answers show which of several readings of an instruction is right.
#pragma once

#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/probe/probe.h"

namespace mmadiff {

// "VECTOR: READING" for each of VectorDotsOf(), or "VECTOR: a different word, 3f800000" if no
// reading matches. Without a model the answer is open. Errors are the device's.
absl::StatusOr<ProbeAnswer> AskReadings(Device& device, const Operation& op,
                                        const Question& question);

}  // namespace mmadiff
