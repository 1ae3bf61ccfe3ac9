// Matrices in shared memory as wgmma and tcgen05.mma read them. Internal to the layouts.
#pragma once

#include "sim/layout.h"

namespace mmadiff {

// K-major without swizzle (PTX ISA 9.0, 9.7.15.5.1 and 9.7.16.10.6): core matrices of 8 rows x 16
// bytes, each contiguous. Those adjacent in K are 128 bytes apart, those adjacent in M or N
// 128 * (k_bytes / 16) bytes. `k_bytes`: of a row of the whole operand. Columns of B are its rows.
constexpr Place CoreMatrixPlace(int row, int k_byte, int k_bytes) {
  const int core = row / 8 * (k_bytes / 16) + k_byte / 16;
  const int byte = core * 128 + row % 8 * 16 + k_byte % 16;
  return {0, byte / 4, byte % 4 * 8};
}

}  // namespace mmadiff
