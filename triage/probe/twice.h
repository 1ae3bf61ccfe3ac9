// Nothing counts that a device did not say twice.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "device/device.h"

namespace mmadiff {

// What the device answers to the batch, asked twice. kAborted, with the first dot product that has two
// answers; other errors are the device's.
absl::StatusOr<std::vector<uint64_t>> RunTwice(Device& device, const Operation& op,
                                               const Batch& batch);

}  // namespace mmadiff
