// Matrix elements to the registers of an mma instruction's lanes and back, by the layout of its
// row. All packing is host code; kernels move registers.
#pragma once

#include <cstdint>
#include <vector>

#include "device/cuda/ptx.h"
#include "sim/batch.h"
#include "sim/layout.h"

namespace mmadiff {

// Registers of whole executions, 32 lanes each: [execution][lane][register].
struct Registers {
  std::vector<uint32_t> a, b, c;
};

class Fragments {
 public:
  // `instruction` is named "mma.*", has a described layout and no scales.
  explicit Fragments(const Instruction& instruction);

  // Executions that `batch` needs. A batch of single dot products has one in each diagonal element
  // of each block of an execution, the other operands are zeros.
  int64_t Executions(const Batch& batch) const;

  // Executions first .. first+count-1 of the batch.
  Registers Pack(const Batch& batch, int64_t first, int64_t count) const;

  // Results of the same executions from `d`, into their places of all results of the batch.
  void Unpack(const Batch& batch, int64_t first, int64_t count, const std::vector<uint32_t>& d,
              uint64_t* results) const;

  const MmaRegisters& registers() const { return registers_; }

 private:
  // Of each element of an operand in the order of a Batch: register of the execution, lowest bit.
  struct Slot {
    int reg, bit;
  };
  using Map = std::vector<Slot>;

  Map MapOf(Operand operand, int registers) const;
  int DotProductsAtATime() const { return shape_.blocks * diagonal_; }

  const Instruction& instruction_;
  Shape shape_;
  int diagonal_;  // min(m, n)
  MmaRegisters registers_;
  Map a_, b_, c_, d_;
};

}  // namespace mmadiff
