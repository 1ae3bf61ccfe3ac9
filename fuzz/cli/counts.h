// Counts that the documentation quotes; .ci/counts writes them into the pages.
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

// Counts of operations by grade, in total and by GROUP of architectures (x86, sm_90, nvidia: the
// other NVIDIA GPUs, amd, arm, tpu), counts of models, and counts of the dot products of vectors by
// kind of answer.
std::vector<Count> Counts();

}  // namespace mmadiff
