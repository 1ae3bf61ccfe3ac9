// Rows for tests that take one of each model.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/row.h"

namespace mmadiff {

// The row with the fewest dot products of each model.
inline std::vector<const Row*> SmallestRows() {
  std::vector<const Row*> smallest = DistinctRows();
  for (const Row& row : Rows()) {
    const Row*& kept = *std::find_if(smallest.begin(), smallest.end(), [&row](const Row* other) {
      return SameModel(other->model, row.model);
    });
    if (row.shape().d_words() < kept->shape().d_words()) kept = &row;
  }
  return smallest;
}

}  // namespace mmadiff
