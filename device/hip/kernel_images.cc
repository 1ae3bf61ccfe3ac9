#include "device/hip/kernel_images.h"

#include <cstdint>

namespace {

struct Embedded {
  char target[16], tool[48];  // target of "" ends the table
  uint64_t offset;            // from the start of the table
  uint64_t bytes;
};

}  // namespace

extern "C" const Embedded mmadiff_hip_images[];  // written by CMakeLists.txt

namespace mmadiff {

HipImage HipImageOf(const HipTarget& target) {
  for (const Embedded* e = mmadiff_hip_images; e->target[0] != '\0'; ++e) {
    if (absl::string_view(e->target) != target.target) continue;
    return {{reinterpret_cast<const char*>(mmadiff_hip_images) + e->offset, e->bytes}, e->tool};
  }
  return {};
}

}  // namespace mmadiff
