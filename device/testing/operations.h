// Operations and operands for tests that cannot run every operation.
#pragma once

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

// The first `count` distinct operations of each family; for scaled sums, of each format of scales.
inline std::vector<const Operation*> OperationsOfEachFamily(int count) {
  std::map<std::pair<Family, std::string>, int> seen;
  std::vector<const Operation*> ops;
  for (const Operation* op : DistinctOperations()) {
    const char* scale = op->model.scale.name;
    if (++seen[{op->model.algorithm.family, scale == nullptr ? "" : scale}] <= count) {
      ops.push_back(op);
    }
  }
  return ops;
}

// A batch of the operation with each word from `word`, a function of its format. For a sparse A two
// of four are +0, in every pair of positions.
template <class Word>
Batch FillBatch(const Operation& op, const Shape& shape, int64_t executions, Word word) {
  const Instruction& instruction = *op.instruction;
  Batch batch;
  batch.Resize(shape, executions);
  const int words = shape.row_words();
  for (size_t i = 0; i < batch.a.size(); ++i) batch.a[i] = word(instruction.a_format(i % words));
  for (size_t i = 0; i < batch.b.size(); ++i) batch.b[i] = word(instruction.b_format(i % words));
  for (uint64_t& w : batch.c) w = word(*instruction.c);
  constexpr int kKept[] = {3, 5, 9, 6, 10, 12};  // bits of positions
  for (size_t i = 0; instruction.sparse && i < batch.a.size(); ++i) {
    if ((kKept[i / 4 % 6] >> i % 4 & 1) == 0) batch.a[i] = 0;
  }
  return batch;
}

// Any bit patterns.
inline Batch RandomBits(const Operation& op, const Shape& shape, int64_t executions,
                        uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  return FillBatch(op, shape, executions,
                   [&](const Format& f) { return random() & LowBits(f.bits); });
}

}  // namespace mmadiff
