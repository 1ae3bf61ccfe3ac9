#include "device/cuda/kernel_images.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "device/cuda/driver.h"

namespace {

struct Embedded {
  uint64_t capability;  // 90 for 9.0; 0 ends the table
  uint64_t toolkit;     // KernelImage::toolkit
  uint64_t offset;      // from the start of the table
  uint64_t bytes;
};

}  // namespace

// Written by CMakeLists.txt.
extern "C" const Embedded mmadiff_kernel_images[], mmadiff_copy_images[];

namespace mmadiff {
namespace {

KernelImage ImageIn(const Embedded* table, const PtxTarget& target) {
  const uint64_t capability = 10 * target.major + target.minor;
  for (const Embedded* e = table; e->capability != 0; ++e) {
    if (e->capability != capability) continue;
    return {{reinterpret_cast<const char*>(table) + e->offset, e->bytes},
            static_cast<int>(e->toolkit)};
  }
  return {};
}

}  // namespace

KernelImage KernelImageOf(const PtxTarget& target) {
  return ImageIn(mmadiff_kernel_images, target);
}
KernelImage CopyImageOf(const PtxTarget& target) { return ImageIn(mmadiff_copy_images, target); }

std::string ToolOf(const KernelImage& image) {
  return absl::StrCat("ptxas of CUDA ", CudaVersion(image.toolkit));
}

}  // namespace mmadiff
