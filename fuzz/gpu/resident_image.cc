// The machine code of resident.cu, where the build made it.
#include "fuzz/gpu/resident_image.h"

#if defined(MMADIFF_RESIDENT_IMAGE)
__asm__(
    ".section .rodata\n"
    ".balign 64\n"
    "mmadiff_resident_image:\n"
    ".incbin \"" MMADIFF_RESIDENT_IMAGE
    "\"\n"
    "mmadiff_resident_image_end:\n"
    ".byte 0\n"
    ".text\n");
extern "C" const char mmadiff_resident_image[], mmadiff_resident_image_end[];
#endif

namespace mmadiff {

absl::string_view ResidentImage() {
#if defined(MMADIFF_RESIDENT_IMAGE)
  return {mmadiff_resident_image,
          static_cast<size_t>(mmadiff_resident_image_end - mmadiff_resident_image)};
#else
  return {};
#endif
}

}  // namespace mmadiff
