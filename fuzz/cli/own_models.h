// The flag --model: models from files.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/operation.h"

namespace mmadiff {

// Reads each file (sim/tree/model_text.h); FILE.model is own/FILE. kInvalidArgument with the file, line
// and column of an error.
absl::Status ReadModels(const std::vector<std::string>& files);

// Those of ReadModels(), which a verb takes for "*" or a missing instruction.
const std::vector<const Operation*>& ReadOperations();

}  // namespace mmadiff
