// Makes a mismatching tensor copy simpler, field by field.
#pragma once

#include <string_view>

#include "absl/functional/function_ref.h"
#include "sim/copy/tensor_copy.h"

namespace mmadiff {

// A copy that is legal on the architecture, touches global memory below `window` only, and for which
// `differs` is true, as for `copy`. No single step makes it simpler: fields become those of a dense tensor at
// address 0, sizes are halved or lose a row, coordinates and corners approach 0.
TensorCopy MinimizedCopy(const TensorCopy& copy, std::string_view arch, uint64_t window,
                         absl::FunctionRef<bool(const TensorCopy&)> differs);

}  // namespace mmadiff
