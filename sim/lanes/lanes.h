// The simulator in vector lanes, one dot product per lane: a second implementation of the
// arithmetic, in integers, or in floats where these are exact, with one source for all vector
// widths (Google Highway). The scalar simulator is the reference: lanes_test compares every model,
// all its neighbors and every width.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// Lane width for a model, in bits. Models without lanes use the scalar simulator.
//   kFusedSum, kScaledSum with a power of two for each product: models with NarrowRow and products
//     of at most 24 bits.
//   kScaledSum of groups: models with NarrowGroupRow whose sums fit 62 bits; 64-bit lanes.
//   kFmaChain: all models. 32-bit lanes if products have at most 24 bits and operands and results
//     at most 32, otherwise 64-bit lanes.
//   kPairwiseSum: products of at most 24 bits, operands and results of at most 32.
//   kExactSum: operands and results of at most 32 bits, and at most some 100 products per step (62
//     bits hold their sum and 31 more bits).
//   kTwoStageSum: products that align toward zero by their operands' exponents.
//   kIntegerDot: elements of at most 16 bits. 32-bit lanes if elements have at most 8 bits and
//     results have 32.
enum class LaneWidth { kNone, k32, k64 };
LaneWidth LaneWidthOf(const Model& m);
inline bool HasLanes(const Model& m) { return LaneWidthOf(m) != LaneWidth::kNone; }

// Whether floats can hold every number, the product of any two, and that product shifted up or
// down.
inline bool AreProductsFloats(const Model& m) {
  const auto least = [](const Format& f) { return LeastExponent(f) - f.fraction_bits; };
  return m.scale_block == 0 && std::min(least(m.a), least(m.b)) >= -100 &&
         std::max(MaxExponent(m.a), MaxExponent(m.b)) <= 100 && least(m.a) + least(m.b) >= -60 &&
         MaxExponent(m.a) + MaxExponent(m.b) + 2 <= 60;
}

// One kind of vectors that this machine supports.
struct LaneTarget {
  const char* name;  // Highway's name: AVX3 (AVX-512), AVX2, SSE4, NEON
  int lanes;         // number of 32-bit lanes
  // As Simulate(), for models of 32- and 64-bit lanes.
  using SimulateBatch = void(const Model& m, const Batch& batch, std::span<uint64_t> d);
  SimulateBatch* simulate_narrow;
  // nullptr for vectors of two 64-bit lanes, which are slower than the scalar simulator.
  SimulateBatch* simulate_wide;

  // 0 if there are no lanes of this width.
  int LanesFor(LaneWidth width) const {
    if (width == LaneWidth::k32) return lanes;
    return width == LaneWidth::k64 && simulate_wide != nullptr ? lanes / 2 : 0;
  }
  // As Simulate(). There must be lanes for the model, and at least as many rows of A in the batch.
  void Simulate(const Model& m, const Batch& batch, std::span<uint64_t> d) const {
    (LaneWidthOf(m) == LaneWidth::k64 ? simulate_wide : simulate_narrow)(m, batch, d);
  }
};

// Best first. Empty if built without Highway.
std::span<const LaneTarget> LaneTargets();

}  // namespace mmadiff
