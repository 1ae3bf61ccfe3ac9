// The layout of wmma: matrices in global memory.
#pragma once

#include "sim/layout.h"

namespace mmadiff {

// Whether the columns of the operand lie one after the other in memory, and not its rows.
bool ByColumns(Operand operand);

// Elements from the start of a row of the operand, or of a column where it lies by columns, to that
// of the next.
int LeadingDimension(const Instruction& instruction, Operand operand);

Extent WmmaExtent(const Instruction& instruction, Operand operand);
Place WmmaPlace(const Instruction& instruction, Operand operand, const Element& element);

}  // namespace mmadiff
