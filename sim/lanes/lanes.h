// The simulator in vector lanes, a dot product each: the arithmetic said once more, in 32-bit integers
// without branches, one text for all widths of vectors (Google Highway). The scalar simulator is the
// reference: lanes_test compares every model, every neighbour of it and every width.
#pragma once

#include <cstdint>
#include <span>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// Whether the lanes say this model; the others are the scalar simulator's. Operands and results have
// at most 32 bits.
//   kFusedSum, kScaledSum with a power of two for each product: models with NarrowRow.
//   kFmaChain, kPairwiseSum: products of at most 24 bits.
//   kIntegerDot: elements of at most 8 bits, results of 32.
bool HasLanes(const Model& m);

// Vectors of one kind that this machine has.
struct LaneTarget {
  const char* name;  // of Highway: AVX3 (AVX-512), AVX2, SSE4, ..., EMU128 (no vectors at all)
  int lanes;
  // As Simulate(). The model has lanes, and the batch as many rows of A or more.
  void (*simulate)(const Model& m, const Batch& batch, std::span<uint64_t> d);
};

// The best first. Empty where this was built without Highway.
std::span<const LaneTarget> LaneTargets();

}  // namespace mmadiff
