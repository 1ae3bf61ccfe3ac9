// Reads the machine code of a kernel for AMD GPUs, without a disassembler.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

// The opcodes of the matrix instructions of a kernel, in code order: the seven opcode bits of VOP3P
// for v_mfma and v_smfmac (GFX9), v_wmma and v_swmmac (GFX11, GFX12). Lengths and opcodes were
// learned from the encodings of LLVM 19 and 22. kDataLoss if the bytes are not a code object with
// that kernel, or if its code ends within an instruction.
absl::StatusOr<std::vector<int>> HipMatrixOpcodes(absl::string_view code_object,
                                                  absl::string_view kernel);

// The register MODE when a kernel starts, from its descriptor (LLVM, User Guide for AMDGPU Backend,
// "Kernel Descriptor", COMPUTE_PGM_RSRC1): bits as in device/hip/kernel.h. Errors as above.
absl::StatusOr<uint32_t> HipModeOf(absl::string_view code_object, absl::string_view kernel);

// The generation of the instruction set from e_flags of the file: 9, 11 or 12; 0 for any other.
int HipGenerationOf(uint32_t flags);
// For an instruction with this first word: its length in bytes; its seven opcode bits if it is a
// matrix instruction.
int HipBytesOf(uint32_t word, int generation);
std::optional<int> HipMatrixOpcode(uint32_t word, int generation);

}  // namespace mmadiff
