// Vectors in a replay (fuzz/replay/replay.h): every answer against the model, or against a device.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "corpus/vector_file.h"
#include "fuzz/replay/replay_answers.h"

namespace mmadiff {

// What is not `wanted` is left out, and so are operations that the device lacks, which are counted. Where an answer
// is contested a device is held to the model's; the model itself counts only if it gives the contested answer, which
// is wrong: the known difference is none. Errors are the device's but those that drop an operation.
absl::Status CompareVector(const Vector& v, absl::FunctionRef<bool(const Operation&)> wanted,
                           ReplayState& replay);

}  // namespace mmadiff
