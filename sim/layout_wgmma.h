// The layout of wgmma: shared memory, and registers of 128 lanes.
#pragma once

#include "sim/layout.h"

namespace mmadiff {

// `elements` is the operand's number of elements.
Extent WgmmaExtent(const Instruction& instruction, Operand operand, int elements);
Place WgmmaPlace(const Instruction& instruction, Operand operand, const Element& element);

}  // namespace mmadiff
