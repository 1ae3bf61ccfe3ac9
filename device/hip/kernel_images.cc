#include "device/hip/kernel_images.h"

extern "C" const mmadiff::EmbeddedHipImage mmadiff_hip_images[];  // written by CMakeLists.txt

namespace mmadiff {

HipImage FindHipImage(const EmbeddedHipImage* table, absl::string_view target) {
  for (const EmbeddedHipImage* e = table; e->target[0] != '\0'; ++e) {
    if (e->target != target) continue;
    return {{reinterpret_cast<const char*>(table) + e->offset, e->bytes}, e->tool};
  }
  return {};
}

HipImage HipImageOf(const HipTarget& target) {
  return FindHipImage(mmadiff_hip_images, target.target);
}

}  // namespace mmadiff
