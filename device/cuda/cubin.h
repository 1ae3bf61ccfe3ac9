// Machine code of a kernel, read without the vendor's disassembler.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

// How often each matrix opcode stands in the section ".text.KERNEL" of a cubin (ELF64, instructions
// of 16 bytes, opcode in the low 12 bits; sm_70 and up): "HMMA", "HMMA.884", "IMMA", "BMMA",
// "DMMA", "QMMA", "QMMA.SF", "OMMA.SF", "HGMMA", "IGMMA", "BGMMA", "QGMMA". The codes were learnt
// by comparison with disassemblies of sm_75 to sm_120a, those of wgmma by comparison with the PTX.
// kDataLoss if the bytes are no such file.
absl::StatusOr<std::map<std::string, int>> MatrixOpcodes(absl::string_view cubin,
                                                         absl::string_view kernel);

}  // namespace mmadiff
