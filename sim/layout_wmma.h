// The layout of wmma: matrices in global memory.
#pragma once

#include "sim/layout.h"

namespace mmadiff {

// Whether the operand is stored column by column instead of row by row.
bool ByColumns(Operand operand);

// Elements from the start of a row of the operand to the start of the next, or of a column if
// ByColumns().
int LeadingDimension(const Instruction& instruction, Operand operand);

Extent WmmaExtent(const Instruction& instruction, Operand operand);
Place WmmaPlace(const Instruction& instruction, Operand operand, const Element& element);

}  // namespace mmadiff
