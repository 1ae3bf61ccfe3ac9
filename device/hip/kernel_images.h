// Machine code of the kernels, where the build had a compiler that makes it for AMD.
#pragma once

#include "absl/strings/string_view.h"
#include "device/hip/kernel.h"

namespace mmadiff {

struct HipImage {
  absl::string_view code_object;  // of BuiltHipInstructions(), by HipKernelName(); empty: none
  absl::string_view tool;         // "clang 19.1.7"
};

using HipImages = HipImage (*)(const HipTarget& target);

// Those of this build.
HipImage HipImageOf(const HipTarget& target);

}  // namespace mmadiff
