// The place of each matrix element in the storage that an instruction reads and writes (registers
// of lanes, shared memory, tensor memory), as closed formulas per layout.
#pragma once

#include <vector>

#include "sim/instruction.h"

namespace mmadiff {

// kALanes: A in registers (wgmma) or tensor memory (tcgen05) instead of shared memory.
// kAColumns, kBRows, kCColumns, kDColumns: wmma operands in memory in the opposite order: A, C and
// D by columns instead of rows, B by rows instead of columns.
// kMetadata: the metadata words of a sparse A, m x groups (sim/sparsity.h). The kA of sparse
// instructions holds only the stored elements, m x k / 2.
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
  kMetadata
};
// "A", "B", "C", "D", "SA", "SB", "A_lanes", "A_col", "B_row", "C_col", "D_col", "metadata"
const char* Name(Operand operand);

// Row and column in the mathematical matrix: A is m x k, B is k x n, C and D are m x n; scales are
// m x scales for A and scales x n for B.
struct Element {
  int block, row, column;
};

// A 32-bit register of a lane, and the element's lowest bit in it. For x86, the lane is the 32- or
// 64-bit lane of the vector and the register is 0. A 64-bit element occupies registers reg and
// reg + 1. Shared and global memory count as one lane of 32-bit words; in tensor memory, the
// columns of a lane are its registers. A 6-bit element may extend into the next word.
struct Place {
  int lane, reg, bit;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// The size of an operand's storage: `lanes` lanes of `registers` 32-bit words each.
struct Extent {
  int lanes, registers;
};

// Only for NVIDIA's and AMD's instructions with a described layout.
Extent ExtentOf(const Instruction& instruction, Operand operand);

// Every element of one execution, block by block, row by row.
std::vector<Element> Elements(const Instruction& instruction, Operand operand);

// The instruction's layout must not be kNoLanes.
Place PlaceOf(const Instruction& instruction, Operand operand, const Element& element);

// The same for instructions that need copies of an element in several places (A and B of
// kAmdWmma11); PlaceOf() returns the first.
std::vector<Place> PlacesOf(const Instruction& instruction, Operand operand,
                            const Element& element);

}  // namespace mmadiff
