// Kernels of mma.*.
#pragma once

#include <string>

#include "device/cuda/overlap.h"
#include "device/cuda/variant.h"
#include "sim/instruction.h"

namespace mmadiff {

// The PTX text between the braces of an entry (kernel.h), without the final "ret".
std::string MmaBody(const Instruction& instruction, const Variant& variant);
std::string MmaMnemonic(const Instruction& instruction);
RegisterCounts MmaRegisters(const Instruction& instruction);

}  // namespace mmadiff
