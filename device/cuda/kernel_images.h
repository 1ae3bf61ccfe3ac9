// Machine code of the kernels, where the build had a CUDA Toolkit to make it.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "device/cuda/kernel.h"

namespace mmadiff {

struct KernelImage {
  absl::string_view cubin;  // of BuiltEntries(), by KernelName(); empty: the build has none
  int toolkit =
      0;  // CUDA version of the ptxas that made it, 13000: that of the oldest driver for it
};

using KernelImages = KernelImage (*)(const PtxTarget& target);

// Those of this build.
KernelImage KernelImageOf(const PtxTarget& target);

// What made an image: "ptxas of CUDA 13.0".
std::string ToolOf(const KernelImage& image);

}  // namespace mmadiff
