// Vectors in a replay (fuzz/replay/replay.h): compares every answer with the model or a device.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "corpus/vector_file.h"
#include "fuzz/replay/replay_answers.h"

namespace mmadiff {

// Leaves out operations that are not `wanted`, and counts and leaves out those that the device
// lacks. For a contested answer, a device is compared with the model. Without a device, a contested
// answer is counted only if the model gives it: that is an error, because the known difference no
// longer exists. Returns device errors except those that drop an operation.
absl::Status CompareVector(const Vector& v, absl::FunctionRef<bool(const Operation&)> wanted,
                           ReplayState& replay);

}  // namespace mmadiff
