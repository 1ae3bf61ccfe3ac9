// Kernels of a cubin, by the disassembler of the CUDA Toolkit.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "device/sass/program.h"

namespace mmadiff::sass {

// The path of nvdisasm: $NVDISASM, else in PATH, else where the CUDA Toolkit is. kNotFound if it is
// nowhere.
absl::StatusOr<std::string> FindDisassembler();

// kInternal if the disassembler fails, kInvalidArgument for code that ParsePrograms() does not
// understand.
absl::StatusOr<Programs> Disassemble(const std::string& nvdisasm, const std::string& cubin);

}  // namespace mmadiff::sass
