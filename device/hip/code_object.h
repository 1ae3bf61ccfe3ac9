// Machine code of a kernel for AMD, read without a disassembler.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

// The opcodes of the matrix instructions of a kernel, in the order in which they stand: the seven
// bits of VOP3P of v_mfma and v_smfmac (GFX9), v_wmma and v_swmmac (GFX11, GFX12). Lengths and
// opcodes were learnt from what LLVM 19 and 22 encode. kDataLoss if the bytes are no code object with
// that kernel, or its code ends within an instruction.
absl::StatusOr<std::vector<int>> HipMatrixOpcodes(absl::string_view code_object,
                                                  absl::string_view kernel);

// What the register MODE is when a kernel starts, by its descriptor (LLVM, User Guide for AMDGPU
// Backend, "Kernel Descriptor", COMPUTE_PGM_RSRC1): bits as in device/hip/kernel.h. Errors as above.
absl::StatusOr<uint32_t> HipModeOf(absl::string_view code_object, absl::string_view kernel);

// The generation of the instruction set by e_flags of the file: 9, 11 or 12; 0 for another.
int HipGenerationOf(uint32_t flags);
// Of an instruction by its first word: its bytes; its seven bits if it is one for matrices.
int HipBytesOf(uint32_t word, int generation);
std::optional<int> HipMatrixOpcode(uint32_t word, int generation);

}  // namespace mmadiff
