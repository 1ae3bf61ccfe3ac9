// The kernels of runs that stay on a GPU, as the build made them.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mmadiff {

// The machine code of resident.cu for a GpuDevice::target(): of NVIDIA's one image for all, of AMD's
// one each. Empty: the build had no compiler for it.
absl::string_view ResidentImage(absl::string_view target);

// Why it is empty: "the CUDA Toolkit was not there when it was configured".
std::string WhyNoResidentImage(absl::string_view target);

}  // namespace mmadiff
