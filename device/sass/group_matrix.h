// The matrix instructions of a warpgroup (wgmma): B is in shared memory, A there or in registers, C and
// D in registers. Each of the four warps computes 16 rows of D. The interpreter executes them one warp
// after the other: nothing that a warp writes is an operand of another without a barrier of the block.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/sass/lanes.h"
#include "sim/operation.h"

namespace mmadiff::sass {

inline constexpr int kRowsOfWarp = 16;

// A matrix in shared memory without swizzle, addresses in bytes: 16 bytes of k of eight rows of A, or
// columns of B, are one after the other.
struct SharedMatrix {
  uint32_t start;
  uint32_t leading;  // to the next 16 bytes of k
  uint32_t stride;   // to the next eight rows

  uint32_t AddressOf(int row, int byte) const {
    return start + row / 8 * stride + byte / 16 * leading + row % 8 * 16 + byte % 16;
  }
};
// The place that a matrix descriptor gives (PTX ISA 9.0, 9.7.15). kUnimplemented: a swizzle, or a base
// offset.
absl::StatusOr<SharedMatrix> SharedMatrixOf(uint64_t descriptor);

// The row's instruction with `columns` columns of D.
class GroupMatrix {
 public:
  GroupMatrix(const Operation& op, int columns) : op_(op), columns_(columns) {}

  bool sparse() const { return op_.instruction->sparse(); }  // source 3 is the metadata
  int RegistersOfA() const;
  int RegistersOfD() const;
  // The 32-bit words of shared memory that the warp reads, by number, row by row of A and column by
  // column of B; none of A if it is in registers.
  struct Words {
    std::vector<uint32_t> a, b;
  };
  absl::StatusOr<Words> SharedWords(const Instruction& in, Lanes& warp) const;
  // kUnimplemented: an operand that is not executed. kInternal: outside of shared memory.
  absl::Status Execute(const Instruction& in, Lanes& warp) const;

 private:
  absl::Status CheckRegisters(const Instruction& in) const;

  const Operation& op_;
  int columns_;
};

}  // namespace mmadiff::sass
