// Converts matrix elements to the words of a kernel and back. All packing is host code; kernels
// only move words.
#pragma once

#include <cstdint>
#include <vector>

#include "device/gpu/kernel.h"
#include "sim/batch.h"

namespace mmadiff {

// Words of whole executions: [execution][word].
struct PackedOperands {
  std::vector<uint32_t> a, b, c;
};

class Fragments {
 public:
  Fragments(const Instruction& instruction, const Kernel& kernel)
      : instruction_(instruction), shape_(instruction.shape), kernel_(kernel) {}

  // Executions that `batch` needs. A batch of single dot products places one in each diagonal
  // element of each block of an execution; the other operands are zeros.
  int64_t Executions(const Batch& batch) const;

  // Executions first .. first+count-1 of a batch.
  PackedOperands Pack(const Batch& batch, int64_t first, int64_t count) const;

  // Writes the results of the same executions, from `d`, to their places among all results of the
  // batch.
  void Unpack(const Batch& batch, int64_t first, int64_t count, const std::vector<uint32_t>& d,
              uint64_t* results) const;

 private:
  int Diagonal() const { return shape_.m < shape_.n ? shape_.m : shape_.n; }
  int DotProductsAtATime() const { return shape_.blocks * Diagonal(); }

  const Instruction& instruction_;
  const Shape shape_;
  const Kernel& kernel_;
};

}  // namespace mmadiff
