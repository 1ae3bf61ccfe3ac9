// Operations and operands for tests that cannot run every operation.
#pragma once

#include <map>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/batch.h"
#include "sim/operation.h"
#include "sim/sparsity.h"

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

// A batch of the operation with each word from `word`, a function of its format. Metadata of a sparse A
// are legal, and elements that they do not store are +0.
template <class Word>
Batch FillBatch(const Operation& op, const Shape& shape, int64_t executions, Word word) {
  const Instruction& instruction = *op.instruction;
  Batch batch;
  batch.Resize(shape, executions);
  const int words = shape.row_words();
  for (size_t i = 0; i < batch.a.size(); ++i) batch.a[i] = word(instruction.a_format(i % words));
  for (size_t i = 0; i < batch.b.size(); ++i) batch.b[i] = word(instruction.b_format(i % words));
  for (uint64_t& w : batch.c) w = word(*instruction.c);
  for (size_t i = 0; i < batch.metadata.size(); ++i) {
    const int group = shape.k / shape.groups;
    const std::span<const uint64_t> legal = LegalMetadata(group);
    batch.metadata[i] = legal[i * 5 % legal.size()];
    for (int p = 0; p < group; ++p) {
      if (IsStored(group, batch.metadata[i], p)) continue;
      batch.a[i / shape.groups * words + i % shape.groups * group + p] = 0;
    }
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
