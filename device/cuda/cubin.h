// Machine code of a kernel, read without the vendor's disassembler.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

// How often each matrix opcode, and each fused multiply-add, stands in the section ".text.KERNEL" of a cubin (ELF64, instructions
// of 16 bytes, opcode in the low 12 bits; sm_70 and up): "FFMA" and "DFMA" of registers; "HMMA", "HMMA.884" (to sm_75), "IMMA", "BMMA",
// "DMMA", "QMMA", "QMMA.SF", "OMMA.SF", "HGMMA", "IGMMA", "BGMMA", "QGMMA"; of tcgen05.mma
// "TCGEN05.SS" with A in shared memory, "TCGEN05.TS" in tensor memory, the same with ".SF" of the
// kind mxf8f6f4. The codes were learnt by comparison with disassemblies of sm_75 to sm_120a, those
// of wgmma and tcgen05 by assembling single instructions.
// kDataLoss if the bytes are no such file.
absl::StatusOr<std::map<std::string, int>> MatrixOpcodes(absl::string_view cubin,
                                                         absl::string_view kernel);

}  // namespace mmadiff
