// The header of a safetensors file: a JSON object of tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

struct StoredTensor {
  std::string name, type;  // "F32"
  std::vector<int64_t> shape;
  std::vector<int64_t> offsets;  // begin and end in the buffer behind the header; none is negative
};
// The tensors in the order of the header, without __metadata__. kDataLoss: not such an object, with
// a key twice, or with values nested more deeply. No name of a file in the message.
absl::StatusOr<std::vector<StoredTensor>> ParseSafetensorsHeader(absl::string_view text);

}  // namespace mmadiff
