// A case of a tensor copy is a name: ARCH/FORM@gVERSION:SEED:INDEX. It determines every field of the map,
// the operands, and the seed of memory. Fields are legal; classes visit each limit and each side.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/copy/tensor_copy.h"

namespace mmadiff {

// Increases with any change of any field of any case.
inline constexpr int kCopyGeneratorVersion = 1;

// Global memory of a case: addresses below this many bytes. Tiles are at most kMaxTileBytes, which fits
// the static shared memory of sm_90.
inline constexpr uint64_t kCopyWindow = 64 << 10, kMaxTileBytes = 40 << 10;

struct CopyCaseName {
  std::string arch;
  const CopyForm* form = nullptr;
  uint64_t seed = 1, index = 0;
};
std::string FormatCopyCase(const CopyCaseName& name);  // "sm_90/load.tile.3d@g1:1:17"
// Errors name the wrong part: the architecture, the form, the version.
absl::StatusOr<CopyCaseName> ParseCopyCase(absl::string_view text);

struct CopyCase {
  TensorCopy copy;
  CopyMemory memory;
};
CopyCase GenerateCopy(const CopyCaseName& name);

// The classes, in the order in which cases visit them.
std::span<const char* const> CopyClasses();

// The architectures that have copy forms.
std::span<const char* const> CopyArchitectures();

}  // namespace mmadiff
