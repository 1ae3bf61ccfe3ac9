// Files of safetensors: named arrays in one buffer (format of huggingface/safetensors, README.md).
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/arrays/array.h"

namespace mmadiff {

// The tensor of this name; without a name the only one of the file. Its Array::name is
// "PATH:TENSOR". Checks all tensors: kDataLoss unless they are in the buffer without overlaps and
// holes, each with the size that its type and shape need. kInvalidArgument: no such tensor (the
// message lists some), or a type that is not read: complex numbers, Booleans, and F4 and F6, whose
// elements are packed. Other errors as ReadArray().
absl::StatusOr<Array> ReadSafetensors(const std::string& path,
                                      std::optional<absl::string_view> tensor);

}  // namespace mmadiff
