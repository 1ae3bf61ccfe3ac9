// AMD's code object manager (libamd_comgr, part of every ROCm) as an assembler, opened at run time.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "device/hip/kernel.h"

namespace mmadiff {

// The code object of a module's text. kNotFound without the library (IsNoLibrary) or if it does not
// know the target, with its names in the message; kInternal with the assembler's words if it refuses
// the text. MMADIFF_LIBCOMGR names another library file.
absl::StatusOr<std::string> Assemble(const HipTarget& target, const std::string& text);
// OK, or the kNotFound of Assemble().
absl::Status CanAssemble(const HipTarget& target);

}  // namespace mmadiff
