// Where each element of a matrix lies in the registers of the lanes, as closed formulas per layout.
#pragma once

#include <vector>

#include "sim/instruction.h"

namespace mmadiff {

enum class Operand { kA, kB, kC, kD };
const char* Name(Operand operand);  // "A", "B", "C", "D"

// Row and column in the mathematical matrix: A is m x k, B is k x n, C and D are m x n.
struct Element {
  int block, row, column;
};

// A 32-bit register of a lane and the lowest bit in it. For x86 the "lane" is the 32- or 64-bit
// lane of the vector and the register is 0. A 64-bit element occupies register reg and reg + 1.
struct Place {
  int lane, reg, bit;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// Every element of one execution, block by block, row by row.
std::vector<Element> Elements(const Instruction& instruction, Operand operand);

// The instruction's layout must not be kNoLanes.
Place PlaceOf(const Instruction& instruction, Operand operand, const Element& element);

}  // namespace mmadiff
