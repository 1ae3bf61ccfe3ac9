// The kernels of runs that stay on a GPU, as the build made them.
#pragma once

#include "absl/strings/string_view.h"

namespace mmadiff {

// The machine code of resident.cu for all targets; empty in a build without the CUDA Toolkit.
absl::string_view ResidentImage();

}  // namespace mmadiff
