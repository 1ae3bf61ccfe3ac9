// AMD's matrix instructions: registers of the lanes of a wave. For sim/layout.cc alone.
#pragma once

#include "sim/layout.h"

namespace mmadiff {

bool IsAmd(Layout layout);

// 64 lanes on gfx9, else 32.
Extent AmdExtent(const Instruction& instruction, Operand operand);

Place AmdPlace(const Instruction& instruction, Operand operand, const Element& element);

}  // namespace mmadiff
