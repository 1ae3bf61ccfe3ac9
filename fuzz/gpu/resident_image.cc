// The machine code of resident.cu, if the build compiled it.
#include "fuzz/gpu/resident_image.h"

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "device/hip/kernel_images.h"
#include "sim/operation.h"

#if defined(MMADIFF_RESIDENT_IMAGE)
extern "C" const char mmadiff_resident_image[], mmadiff_resident_image_end[];
#endif

extern "C" const mmadiff::EmbeddedHipImage mmadiff_hip_resident_images[];  // CMakeLists.txt

namespace mmadiff {
namespace {

bool IsAmd(absl::string_view target) { return absl::StartsWith(target, "gfx"); }

}  // namespace

absl::string_view ResidentImage(absl::string_view target) {
  if (IsAmd(target)) return FindHipImage(mmadiff_hip_resident_images, target).code_object;
#if defined(MMADIFF_RESIDENT_IMAGE)
  return {mmadiff_resident_image,
          static_cast<size_t>(mmadiff_resident_image_end - mmadiff_resident_image)};
#else
  return {};
#endif
}

std::string WhyNoResidentImage(absl::string_view target) {
  constexpr char kThen[] = " was missing when the build was configured";
  if (!IsAmd(target)) return absl::StrCat("the CUDA Toolkit", kThen);
  const HipTarget* const amd = FindHipTarget(target);
  const auto is_modelled = [amd](const Operation& op) {
    return amd != nullptr && op.arch() == amd->arch && !op.instruction->is_conversion();
  };
  if (amd != nullptr && amd->wave == 32) {
    return absl::StrCat("no kernels for waves of 32 lanes, so not for ", target);
  }
  if (absl::c_none_of(Operations(), is_modelled)) {
    return absl::StrCat("no dot product of ", target, " is modeled");
  }
  return absl::StrCat("a clang that compiles them for ", target, kThen);
}

}  // namespace mmadiff
