// Reads the machine code of a kernel, without the vendor's disassembler.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

// The number of occurrences of each matrix opcode, and of each fused multiply-add, in the section
// ".text.KERNEL" of a cubin (ELF64, instructions of 16 bytes, opcode in the low 12 bits; sm_70 and
// up): "FFMA" and "DFMA" of registers; "HMMA", "HMMA.884" (to sm_75), "IMMA", "BMMA", "DMMA",
// "QMMA", "QMMA.SF", "OMMA.SF", "HGMMA", "IGMMA", "BGMMA", "QGMMA"; for tcgen05.mma "TCGEN05.SS"
// with A in shared memory, "TCGEN05.TS" with A in tensor memory, and both with ".SF" for the kind
// mxf8f6f4. The codes were learned by comparison with disassemblies of sm_75 to sm_120a, those of
// wgmma and tcgen05 by assembling single instructions. kDataLoss if the bytes are not such a file.
absl::StatusOr<std::map<std::string, int>> MatrixOpcodes(absl::string_view cubin,
                                                         absl::string_view kernel);

}  // namespace mmadiff
