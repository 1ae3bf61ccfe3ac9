// The simulator in vector lanes, a dot product each: the arithmetic said once more, in integers, and in
// floats where these are exact, one text for all widths of vectors (Google Highway). The scalar simulator
// is the reference: lanes_test compares every model, every neighbour of it and every width.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// Lanes for a model, by their bits; the models without are the scalar simulator's.
//   kFusedSum, kScaledSum with a power of two for each product: models with NarrowRow, products of at
//     most 24 bits.
//   kScaledSum of groups: models with NarrowGroupRow whose sums fit 62 bits; of 64 bits.
//   kFmaChain: all, of 64 bits; of 32 where products have at most 24 and operands and results at most 32.
//   kPairwiseSum: products of at most 24 bits, operands and results of at most 32.
//   kExactSum: operands and results of at most 32 bits, and a step of some 100 products at most (62 bits
//     hold their sum and 31 bits more).
//   kTwoStageSum: products that align toward zero by the exponents of their operands.
//   kIntegerDot: elements of at most 16 bits; of 32 bits where elements have at most 8, results 32.
enum class LaneWidth { kNone, k32, k64 };
LaneWidth LaneWidthOf(const Model& m);
inline bool HasLanes(const Model& m) { return LaneWidthOf(m) != LaneWidth::kNone; }

// Whether floats hold any number, the product of any two, and what is moved up or down of it.
inline bool AreProductsFloats(const Model& m) {
  const auto least = [](const Format& f) { return LeastExponent(f) - f.fraction_bits; };
  return m.scale_block == 0 && std::min(least(m.a), least(m.b)) >= -100 &&
         std::max(MaxExponent(m.a), MaxExponent(m.b)) <= 100 && least(m.a) + least(m.b) >= -60 &&
         MaxExponent(m.a) + MaxExponent(m.b) + 2 <= 60;
}

// Vectors of one kind that this machine has.
struct LaneTarget {
  const char* name;  // of Highway: AVX3 (AVX-512), AVX2, SSE4, NEON
  int lanes;         // of 32 bits
  // As Simulate(), of models of either width.
  using SimulateBatch = void(const Model& m, const Batch& batch, std::span<uint64_t> d);
  SimulateBatch* simulate_narrow;
  // nullptr for vectors of two such lanes, which are slower than the scalar simulator.
  SimulateBatch* simulate_wide;

  // 0: none of this width.
  int LanesFor(LaneWidth width) const {
    if (width == LaneWidth::k32) return lanes;
    return width == LaneWidth::k64 && simulate_wide != nullptr ? lanes / 2 : 0;
  }
  // As Simulate(). There are lanes for the model, and the batch has at least as many rows of A.
  void Simulate(const Model& m, const Batch& batch, std::span<uint64_t> d) const {
    (LaneWidthOf(m) == LaneWidth::k64 ? simulate_wide : simulate_narrow)(m, batch, d);
  }
};

// The best first. Empty where this was built without Highway.
std::span<const LaneTarget> LaneTargets();

}  // namespace mmadiff
