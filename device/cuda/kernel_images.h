// Machine code of the kernels, if the build had a CUDA Toolkit.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "device/cuda/kernel.h"

namespace mmadiff {

struct KernelImage {
  absl::string_view cubin;  // kernels by name; empty: the build has none
  // CUDA version of the ptxas that made it, 13000; the oldest driver for it has the same version.
  int toolkit = 0;
};

using KernelImages = KernelImage (*)(const PtxTarget& target);

// The images of this build: BuiltEntries(), by KernelName().
KernelImage KernelImageOf(const PtxTarget& target);
// CopyEntries(), by CopyKernelName(), and the encoding kernel (device/cuda/copy_kernel.h).
KernelImage CopyImageOf(const PtxTarget& target);

// The tool that made an image: "ptxas of CUDA 13.0".
std::string ToolOf(const KernelImage& image);

}  // namespace mmadiff
