// AMD's code object manager (libamd_comgr, part of every ROCm) as an assembler, opened at run time.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "device/hip/kernel.h"

namespace mmadiff {

// Assembles a module's text to a code object. kNotFound without the library (IsNoLibrary), or if it
// does not support the target, which the message names; kInternal with the assembler's output if it
// rejects the text. MMADIFF_LIBCOMGR names a different library file.
absl::StatusOr<std::string> Assemble(const HipTarget& target, const std::string& text);
// OK, or the kNotFound of Assemble().
absl::Status CanAssemble(const HipTarget& target);

}  // namespace mmadiff
