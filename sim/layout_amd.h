// Layouts of AMD's matrix instructions in the registers of a wave's lanes. Only for sim/layout.cc.
#pragma once

#include "sim/layout.h"

namespace mmadiff {

bool IsAmd(Layout layout);

// 64 lanes on gfx9, 32 on others.
Extent AmdExtent(const Instruction& instruction, Operand operand);

Place AmdPlace(const Instruction& instruction, Operand operand, const Element& element);

}  // namespace mmadiff
