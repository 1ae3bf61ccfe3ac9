// Kernels of the scalar fma.
#pragma once

#include <string>

#include "sim/instruction.h"

namespace mmadiff {

// The PTX text between the braces of an entry (kernel.h), without the final "ret".
std::string FmaBody(const Instruction& instruction);

}  // namespace mmadiff
