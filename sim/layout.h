// Where each element of a matrix lies in what the instruction reads and writes, as closed formulas
// per layout: registers of lanes, shared memory, tensor memory.
#pragma once

#include <vector>

#include "sim/instruction.h"

namespace mmadiff {

// kALanes: A in registers (wgmma) or tensor memory (tcgen05) instead of shared memory. The others: of
// wmma in memory in the other order, A, C and D by columns instead of rows, B by rows instead of
// columns. kAIndex: of sparse instructions the position, 0 to 3, of each stored element of A among
// its four neighbours; their kA is the stored elements, two in the place of each four.
enum class Operand {
  kA,
  kB,
  kC,
  kD,
  kScaleA,
  kScaleB,
  kALanes,
  kAColumns,
  kBRows,
  kCColumns,
  kDColumns,
  kAIndex
};
// "A", "B", "C", "D", "SA", "SB", "A_lanes", "A_col", "B_row", "C_col", "D_col", "A_index"
const char* Name(Operand operand);

// Row and column in the mathematical matrix: A is m x k, B is k x n, C and D are m x n, the scales
// of A are m x scales, those of B scales x n.
struct Element {
  int block, row, column;
};

// A 32-bit register of a lane and the lowest bit in it. For x86 the "lane" is the 32- or 64-bit
// lane of the vector and the register is 0. A 64-bit element occupies register reg and reg + 1.
// Shared and global memory is one lane of 32-bit words; a lane of tensor memory has columns as
// registers. An element of 6 bits may go on in the next word.
struct Place {
  int lane, reg, bit;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// What holds an operand: `lanes` lanes of `registers` 32-bit words each.
struct Extent {
  int lanes, registers;
};

// Of NVIDIA's and AMD's instructions; the layout must be described.
Extent ExtentOf(const Instruction& instruction, Operand operand);

// Every element of one execution, block by block, row by row.
std::vector<Element> Elements(const Instruction& instruction, Operand operand);

// The instruction's layout must not be kNoLanes.
Place PlaceOf(const Instruction& instruction, Operand operand, const Element& element);

// The same where the instruction wants an element in several places (A and B of kAmdWmma11);
// PlaceOf() gives the first.
std::vector<Place> PlacesOf(const Instruction& instruction, Operand operand,
                            const Element& element);

}  // namespace mmadiff
