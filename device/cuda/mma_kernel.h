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
// A sparse one as mma.sp::ordered_metadata or as mma.sp. ptxas 13.0 makes one machine instruction of the
// first on every target; before the second it sorts the metadata from sm_100 on.
std::string MmaMnemonic(const Instruction& instruction, bool ordered = true);
// Whether the kernels of a target use the first form, which PTX has from 8.5 on.
bool UsesOrderedMetadata(const PtxTarget& target);
RegisterCounts MmaRegisters(const Instruction& instruction);

}  // namespace mmadiff
