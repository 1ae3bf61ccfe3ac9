// The limits of tensor copies: which rule of the PTX ISA or of the driver's encoders a copy breaks.
#pragma once

#include <span>
#include <string_view>

#include "sim/copy/tensor_copy.h"

namespace mmadiff {

struct CopyRule {
  const char* name;     // "box_size"
  const char* section;  // of PTX ISA 9, or a function of the CUDA driver API
  const char* text;     // "box: 1 to 256 elements in each dimension"
  bool (*holds)(const TensorCopy& copy, std::string_view arch);
};
// A rule may assume those before it.
std::span<const CopyRule> CopyLimits();

// The first rule that the copy breaks on the architecture; nullptr if it is legal. `copy.form` is not null.
const CopyRule* BrokenLimit(const TensorCopy& copy, std::string_view arch);

}  // namespace mmadiff
