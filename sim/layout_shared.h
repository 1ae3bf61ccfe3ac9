// Formulas that several layouts share. Only for sim/layout*.cc.
#pragma once

#include "sim/layout.h"

namespace mmadiff {

const Format& FormatOf(const Instruction& instruction, Operand operand);

struct Matrix {
  int rows, columns;
};
Matrix MatrixOf(const Instruction& instruction, Operand operand);

// mma.sync m16n8kK, or m8n8kK if m == 8 (PTX ISA, "Matrix fragments for mma.m16n8kK"). `operand` is
// A, B, C or D; its elements have `bits` bits.
Place MmaFragment(Operand operand, int m, int bits, const Element& element);

// Shared memory in the canonical K-major layout without swizzle. Core matrices have 8 rows of 16
// bytes; those adjacent in K are 128 bytes apart, those adjacent in M or N 128 * (k_bytes / 16).
// `row` counts along M or N, `k_byte` < `k_bytes` along K.
inline Place CoreMatrixPlace(int row, int k_byte, int k_bytes) {
  const int byte = row / 8 * 128 * (k_bytes / 16) + k_byte / 16 * 128 + row % 8 * 16 + k_byte % 16;
  return {0, byte / 4, byte % 4 * 8};
}

// A metadata word of mma.sp, or of a warp of wgmma.sp, with sparsity selector 0, in a register of each
// lane that has some (PTX ISA; CUTLASS's layouts for sm_90 and SM120; machine code in which ptxas moves
// them). Rows 16 and higher are like row % 16.
Place MmaMetadata(const Instruction& instruction, const Element& element);
// With sparsity selector s they are s times so many lanes further on, within four lanes.
int LanesOfSelector(const Instruction& instruction);

}  // namespace mmadiff
