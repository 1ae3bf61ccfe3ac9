// Kernels of mma.*.
#pragma once

#include <string>

#include "device/cuda/overlap.h"
#include "device/cuda/variant.h"
#include "sim/instruction.h"

namespace mmadiff {

struct PtxTarget;

// The PTX text between the braces of an entry (kernel.h), without the final "ret".
std::string MmaBody(const Instruction& instruction, const Variant& variant,
                    const PtxTarget& target);
// A sparse one as mma.sp::ordered_metadata, which PTX has from 8.5 on, or as mma.sp, the same for ordered
// metadata.
std::string MmaMnemonic(const Instruction& instruction, bool ordered = true);
RegisterCounts MmaRegisters(const Instruction& instruction);

}  // namespace mmadiff
