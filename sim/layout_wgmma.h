// The layout of wgmma: shared memory, and registers of 128 lanes.
#pragma once

#include "sim/layout.h"

namespace mmadiff {

// `elements`: of the operand.
Extent WgmmaExtent(const Instruction& instruction, Operand operand, int elements);
Place WgmmaPlace(const Instruction& instruction, Operand operand, const Element& element);

}  // namespace mmadiff
