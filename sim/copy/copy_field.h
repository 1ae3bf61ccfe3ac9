// The fields of a tensor copy by name, as text for the command line, files and messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/copy/tensor_copy.h"

namespace mmadiff {

struct CopyField {
  const char* name;
  const char* what;    // for help
  bool is_kind;        // the defaults of others depend on it
  const char* values;  // names separated by spaces; empty for numbers
  bool (*applies)(const CopyForm&);
  std::string (*get)(const TensorCopy&);
  // False if the text is not a value: a number for each dimension or one for the field.
  bool (*set)(TensorCopy&, std::string_view);
};
// Without form and architecture. Set `type` and `dim` before the others.
std::span<const CopyField> CopyFields();
const CopyField* FindCopyField(std::string_view name);  // nullptr if it does not exist

// Fields that were not set: dense strides rounded up to 16 bytes (32 for padded types and interleave 32B),
// traversal strides of 1, a box as large as the tensor where a box may be, all channels, one pixel.
void SetDefaults(TensorCopy& copy);

// "type=f16 dim=64,8 box=64,8": the kind, and the fields that differ from the defaults.
std::string FieldsText(const TensorCopy& copy);

}  // namespace mmadiff
