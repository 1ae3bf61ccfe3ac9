// Numbers of what there is, which pages name: .ci/counts writes them there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/output/fields.h"

namespace mmadiff {

struct Count {
  std::string name;  // "sm_90.measured"
  uint64_t number;
  std::string what;
};
Fields<Count> FieldsOf(const Count*);

// Of operations by grade, in all and by GROUP of architectures (x86, sm_90, nvidia: the other NVIDIA GPUs, amd, arm, tpu), of
// models, and of dot products of vectors by what their sources say.
std::vector<Count> Counts();

}  // namespace mmadiff
