// Reads the kernels of a cubin with the disassembler of the CUDA Toolkit.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "device/sass/program.h"

namespace mmadiff::sass {

// The path of nvdisasm: $NVDISASM, otherwise in PATH, otherwise in the CUDA Toolkit. kNotFound if
// none of these has it.
absl::StatusOr<std::string> FindDisassembler();

// kInternal if the disassembler fails, kInvalidArgument for code that ParsePrograms() does not
// support.
absl::StatusOr<Programs> Disassemble(const std::string& nvdisasm, const std::string& cubin);

}  // namespace mmadiff::sass
