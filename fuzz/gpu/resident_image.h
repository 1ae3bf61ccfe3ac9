// The compiled kernels of GPU-resident runs.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mmadiff {

// The machine code of resident.cu for a GpuDevice::target(): one image for all NVIDIA targets, one
// for each AMD target. Empty if the build had no compiler for it.
absl::string_view ResidentImage(absl::string_view target);

// Why the image is empty: "the CUDA Toolkit was missing when the build was configured".
std::string WhyNoResidentImage(absl::string_view target);

}  // namespace mmadiff
