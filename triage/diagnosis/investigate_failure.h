// Simplifies an input for which a device gives no word.
#pragma once

#include "absl/status/statusor.h"
#include "device/device.h"
#include "triage/diagnosis/investigate.h"
#include "triage/mismatch.h"

namespace mmadiff {

// `mismatch` is a dot product with a failure. The first case of the result is a smaller dot product
// with the same failure, if there is one, followed by the case as found; otherwise only the case as
// found. A failure that depends on the age of the process is not shrunk. `executions` counts dot
// products; `most` is as in Investigate(). Errors are the device's.
absl::StatusOr<Investigation> InvestigateFailure(Device& device, const Mismatch& mismatch,
                                                 int64_t most = 0);

}  // namespace mmadiff
