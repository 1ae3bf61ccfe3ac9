// Kernels of wgmma.*.
#pragma once

#include <string>

#include "device/cuda/kernel.h"

namespace mmadiff {

// The PTX text between the braces of an entry, without the final "ret".
std::string WgmmaBody(const Instruction& instruction, SourceOfA source);

}  // namespace mmadiff
