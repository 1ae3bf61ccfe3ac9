// Asks a device everything twice; an answer counts only if it repeats.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "device/device.h"

namespace mmadiff {

// The device's answers to the batch, which is run twice. kAborted if a dot product has two answers
// (the message names the first one); other errors are the device's.
absl::StatusOr<std::vector<uint64_t>> RunTwice(Device& device, const Operation& op,
                                               const Batch& batch);

}  // namespace mmadiff
