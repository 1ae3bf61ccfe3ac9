// Operands for tests of machine code.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/batch.h"
#include "sim/format.h"
#include "sim/operation.h"

namespace mmadiff {

// Executions with words that are different numbers, none a NaN.
inline Batch SomeBatch(const Operation& op, int64_t executions) {
  Batch batch;
  batch.Resize(op.shape(), executions);
  uint64_t word = 1;
  const auto fill = [&word](std::vector<uint64_t>& words, int bits) {
    for (uint64_t& w : words) {
      word = word * 6364136223846793005 + 1442695040888963407;
      w = (word >> 32 | word << 32) & LowBits(bits - 2);
    }
  };
  fill(batch.a, op.instruction->a->bits);
  fill(batch.b, op.instruction->b->bits);
  fill(batch.c, op.instruction->c->bits);
  return batch;
}

}  // namespace mmadiff
