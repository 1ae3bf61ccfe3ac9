// Kernels of mma.*.
#pragma once

#include <string>

#include "sim/instruction.h"

namespace mmadiff {

// The PTX text between the braces of an entry (kernel.h), but for the last "ret".
std::string MmaBody(const Instruction& instruction);

}  // namespace mmadiff
