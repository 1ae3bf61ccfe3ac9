// From an input for which a device has no word to the simplest one.
#pragma once

#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/diagnosis/investigate.h"
#include "triage/mismatch.h"

namespace mmadiff {

// `mismatch` is a dot product with a failure, and comes back as the first case, smaller if there is a
// smaller one with the same failure; the other is as it was found. One that depends on the age of the
// process stays as it is. `executions` are dot products, `most` of them as in Investigate(). Errors are
// the device's.
absl::StatusOr<Investigation> InvestigateFailure(Device& device, const Mismatch& mismatch,
                                                 int64_t most = 0);

}  // namespace mmadiff
