// Machine code of the kernels, if the build had a CUDA Toolkit.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "device/cuda/kernel.h"

namespace mmadiff {

struct KernelImage {
  absl::string_view cubin;  // BuiltEntries(), by KernelName(); empty: the build has none
  // CUDA version of the ptxas that made it, 13000; the oldest driver for it has the same version.
  int toolkit = 0;
};

using KernelImages = KernelImage (*)(const PtxTarget& target);

// The images of this build.
KernelImage KernelImageOf(const PtxTarget& target);

// The tool that made an image: "ptxas of CUDA 13.0".
std::string ToolOf(const KernelImage& image);

}  // namespace mmadiff
