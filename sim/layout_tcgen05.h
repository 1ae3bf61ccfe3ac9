// The layout of tcgen05.mma: shared and tensor memory.
#pragma once

#include "sim/layout.h"

namespace mmadiff {

Extent Tcgen05Extent(const Instruction& instruction, Operand operand);
Place Tcgen05Place(const Instruction& instruction, Operand operand, const Element& element);

}  // namespace mmadiff
