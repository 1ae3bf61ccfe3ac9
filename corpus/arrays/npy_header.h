// The header of an .npy file: a Python dictionary of three literals, which is never evaluated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<int64_t> shape;  // none is negative
};
// The keys descr, fortran_order and shape, in any order. kInvalidArgument: a structured type, a
// list of fields. kDataLoss: any other text. No name of a file in the message.
absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view text);

}  // namespace mmadiff
