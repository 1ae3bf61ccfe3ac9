// Machine code of the kernels, if the build had a compiler for AMD GPUs.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "device/hip/kernel.h"

namespace mmadiff {

struct HipImage {
  absl::string_view code_object;  // BuiltHipInstructions(), by HipKernelName(); empty: none
  absl::string_view tool;         // "clang 19.1.7"
};

// A row of a table of images, as the build writes it (CMakeLists.txt); target "" ends it.
struct EmbeddedHipImage {
  char target[16], tool[48];
  uint64_t offset;  // from the start of the table
  uint64_t bytes;
};
HipImage FindHipImage(const EmbeddedHipImage* table, absl::string_view target);

using HipImages = HipImage (*)(const HipTarget& target);

// The images of this build.
HipImage HipImageOf(const HipTarget& target);

}  // namespace mmadiff
