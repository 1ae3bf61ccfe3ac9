// Executes plans: whole matrix products, bit for bit. The bits depend neither on threads nor on how
// the result is divided into tiles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/parts.h"
#include "sim/plan/matrices.h"
#include "sim/plan/plan.h"
#include "sim/words.h"

namespace mmadiff {

struct Execution {
  Threads threads = {};
  // Results per tile, about; the bits do not depend on it. 0: as is best.
  int64_t tile_rows = 0, tile_columns = 0;
  bool lanes = true;  // false: as on a machine without vectors
};

// Writes all m x n results, words of plan.epilogue.format. WhyNotMatrices() must be empty.
void Execute(const Plan& plan, const Matrices& matrices, const MutableWords& d,
             const Execution& execution = {});

// A range of k in an element of D: its sum, and the sum of its stage after it is joined.
struct TracedRange {
  size_t stage = 0;  // index into plan.stages; ranges of inner stages come before the outer one
  Pieces ks;
  // In the format of sums. In trees (tree, pairs) nothing is joined yet: `joined` is the range's sum.
  uint64_t sum = 0, joined = 0;
};
struct TracedElement {
  std::vector<TracedRange> ranges;  // none if the plan has no stages
  uint64_t sum = 0;                 // after all stages, in the format of sums
  uint64_t result = 0;
};
// Element (row, column) of D, range by range. Polls, if `poll` is not nullptr, while it adds.
TracedElement TraceAt(const Plan& plan, const Matrices& matrices, int64_t row, int64_t column,
                      const Poll* poll = nullptr);

// Word [row * n + column], of few results.
std::vector<uint64_t> ExecuteAll(const Plan& plan, const Matrices& matrices);
// The results in these rows and columns only: word [r * columns.size() + c].
std::vector<uint64_t> ExecuteAt(const Plan& plan, const Matrices& matrices,
                                std::span<const int64_t> rows, std::span<const int64_t> columns,
                                const Poll* poll = nullptr);

}  // namespace mmadiff
