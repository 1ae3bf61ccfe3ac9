// Kernels of wmma.
#pragma once

#include <string>

#include "device/cuda/kernel.h"
#include "device/cuda/overlap.h"

namespace mmadiff {

// The PTX text between the braces of an entry, without the final "ret": wmma.load of A, B and C
// from global memory, wmma.mma, wmma.store.
std::string WmmaBody(const Instruction& instruction, const Variant& variant);
// The mnemonic of wmma.mma, which does not name the order of C and D.
std::string WmmaMnemonic(const Instruction& instruction, const Variant& variant);
RegisterCounts WmmaRegisters(const Instruction& instruction);

}  // namespace mmadiff
