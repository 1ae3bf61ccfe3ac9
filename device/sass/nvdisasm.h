// NVIDIA's assembler, disassembler and compiler, as programs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/sass/program.h"

namespace mmadiff::sass {

// The path of ptxas: `wanted`, a path or the version ("13.0.88") of one that .ci/ptxas got; if it is
// empty, in PATH, otherwise in the CUDA Toolkit. kNotFound if none of these is a program.
absl::StatusOr<std::string> FindAssembler(const std::string& wanted);
// The path of nvdisasm: $MMADIFF_NVDISASM, otherwise beside `ptxas` (if not empty), otherwise in PATH
// or in the CUDA Toolkit. kNotFound, with the command that installs it, if none of these has it.
absl::StatusOr<std::string> FindDisassembler(const std::string& ptxas = "");

// The path of nvcc, as FindAssembler(). kNotFound, with an alternative.
absl::StatusOr<std::string> FindCompiler(const std::string& wanted);

// "13.0.88"; kInternal if the assembler does not print its version.
absl::StatusOr<std::string> VersionOf(const std::string& ptxas);

// The machine code of PTX text, as the disassembler prints it. `options`: "-O3 -arch=sm_90a".
// kUnimplemented, with the assembler's first error, if it rejects the text.
absl::StatusOr<std::string> AssembledText(const std::string& ptxas, const std::string& options,
                                          const std::string& nvdisasm, const std::string& ptx);

// The PTX that the compiler makes of a CUDA C++ file for one target, with .loc for its lines.
// kDataLoss, with the compiler's first error, if it fails.
absl::StatusOr<std::string> CompiledPtx(const std::string& nvcc, const std::string& arch,
                                        const std::vector<std::string>& options,
                                        const std::string& file);

// The text that the disassembler prints for a cubin file, with encodings. kInternal if it fails.
absl::StatusOr<std::string> DisassembledText(const std::string& nvdisasm, const std::string& cubin);
// kInvalidArgument for code that ParsePrograms() does not support.
absl::StatusOr<Programs> Disassemble(const std::string& nvdisasm, const std::string& cubin);

}  // namespace mmadiff::sass
