// Operations for tests that take one of each model.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/operation.h"

namespace mmadiff {

// The operation with the fewest dot products of each model.
inline std::vector<const Operation*> SmallestOperations() {
  std::vector<const Operation*> smallest = DistinctOperations();
  for (const Operation& op : Operations()) {
    const Operation*& kept = *std::ranges::find_if(
        smallest, [&op](const Operation* other) { return SameModel(other->model, op.model); });
    if (op.shape().d_words() < kept->shape().d_words()) kept = &op;
  }
  return smallest;
}

}  // namespace mmadiff
