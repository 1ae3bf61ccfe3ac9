// The simulator in vector lanes, one dot product per lane: a second implementation of the
// arithmetic, in integers, or in floats where these are exact, with one source for all vector
// widths (Google Highway). The scalar simulator is the reference: lanes_test compares every model,
// all its neighbors and every width.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "sim/algorithm.h"
#include "sim/batch.h"
#include "sim/words.h"

namespace mmadiff {

// Lane width for a model, in bits. Models without lanes use the scalar simulator.
//   kFusedSum, kScaledSum with a power of two for each product: models with NarrowRow and products
//     of at most 24 bits.
//   kScaledSum of groups: models with NarrowGroupRow whose sums fit 62 bits; 64-bit lanes.
//   kFmaChain: all models. 32-bit lanes if operands and results have at most 32 bits, and products
//     at most 24 or floats compute the chain (NeedsFloats()); otherwise 64-bit lanes.
//   kPairwiseSum: products of at most 24 bits, operands and results of at most 32; or NeedsFloats().
//   kExactSum: operands and results of at most 32 bits, and at most some 100 products per step (62
//     bits hold their sum and 31 more bits).
//   kTwoStageSum: products that align toward zero by their operands' exponents.
//   kTree: those with a plan (sim/lanes/tree_lanes.h); 64-bit lanes, or 32-bit ones if IsFloatTree().
//   kIntegerDot: elements of at most 16 bits. 32-bit lanes if elements have at most 8 bits and
//     results have 32.
enum class LaneWidth { kNone, k32, k64 };
LaneWidth LaneWidthOf(const Model& m);  // without readings (sim/reading.h)
inline bool HasLanes(const Model& m) { return LaneWidthOf(m) != LaneWidth::kNone; }

// Whether floats can hold every number, the product of any two, and that product shifted up or
// down.
inline bool AreProductsFloats(const Model& m) {
  const auto least = [](const Format& f) { return LeastExponent(f) - f.fraction_bits; };
  return m.scale_block == 0 && std::min(least(m.a), least(m.b)) >= -100 &&
         std::max(MaxExponent(m.a), MaxExponent(m.b)) <= 100 && least(m.a) + least(m.b) >= -60 &&
         MaxExponent(m.a) + MaxExponent(m.b) + 2 <= 60;
}

// Whether floats of the output format hold all operands and round as the model does.
inline bool FitsFloats(const Model& m) {
  const Algorithm& alg = m.algorithm;
  const auto holds = [&](const Format& f) {
    return f.fraction_bits <= m.d.fraction_bits && MaxExponent(f) <= MaxExponent(m.d) &&
           LeastExponent(f) >= m.d.min_exponent;
  };
  const bool overflows =
      alg.range_overflow == RangeOverflow::kIeee || alg.output_rounding == Rounding::kNearestEven;
  return holds(m.a) && holds(m.b) && overflows && alg.output_fraction_bits == m.d.fraction_bits &&
         alg.output_rounding != Rounding::kToOdd;
}

// Whether lanes as wide as the results have room for the products only in floats. Integers decide
// whether a result that rounds to the least normal number is flushed, so results must not be.
inline bool NeedsFloats(const Model& m) {
  const Algorithm& alg = m.algorithm;
  const bool pairs =
      alg.family == Family::kPairwiseSum && alg.product_rounding == ProductRounding::kRounded;
  return FitsFloats(m) && (pairs || alg.family == Family::kFmaChain) &&
         m.a.fraction_bits + m.b.fraction_bits + 2 > 24 &&
         alg.output_subnormals == Subnormals::kKeep;
}

// Whether subnormal floats work, that is, the processor is not set to flush them.
template <class Float>
bool HasSubnormalFloats() {
  // In any rounding mode, half the least normal number is exact, and so is twice that.
  const volatile Float least = std::numeric_limits<Float>::min(), half = 0.5, two = 2;
  const volatile Float small = least * half;
  return small != 0 && small * two == least;
}

// A tile of a matrix product in the layout of lanes: panels of as many rows of A as there are lanes,
// and columns of B. `Lane` is uint32_t or uint64_t, as wide as the
// model's lanes; rows of A and columns of B have m.k elements, then the scales.
struct LaneTile {
  const void* a;  // Lane [panels][k + scales][lane], aligned for vectors
  // One of them: columns for all rows, Lane [columns][k + scales]; or, as `a`, a column for each row,
  // which is the only one.
  const void* b = nullptr;
  const void* own_b = nullptr;
  void* sums;  // Lane [panels][columns][lane], aligned: addends, then results
};

// A model on tiles of one size; keeps its buffers.
class LaneTiles {
 public:
  virtual ~LaneTiles() = default;
  virtual void Add(const LaneTile& tile) = 0;
};

// One kind of vectors that this machine supports.
struct LaneTarget {
  const char* name;  // Highway's name: AVX3 (AVX-512), AVX2, SSE4, NEON
  int lanes;         // number of 32-bit lanes
  // As Simulate(), for models of 32- and 64-bit lanes.
  using SimulateBatch = void(const Model& m, const Batch& batch, std::span<uint64_t> d);
  SimulateBatch* simulate_narrow;
  // nullptr for vectors of two 64-bit lanes, which are slower than the scalar simulator.
  SimulateBatch* simulate_wide;
  // For tiles of that many panels and columns; `own` as LaneTile::own_b is given.
  using MakeTiles = std::unique_ptr<LaneTiles>(const Model& m, int panels, int columns, bool own);
  MakeTiles *tiles_narrow, *tiles_wide;
  bool multiplies_floats;  // and adds, rounding once
  // Rows of words, as many as there are lanes, become Lane [count][lane], `step` apart, `count` being
  // the words of a row, which follow one another; and back, from lanes without gaps.
  using TurnRows = void(const Words& rows, int count, int64_t step, void* to);
  using TurnRowsBack = void(const void* from, int count, const MutableWords& rows);
  TurnRows *turn_narrow, *turn_wide;
  TurnRowsBack *turn_back_narrow, *turn_back_wide;

  // 0 if there are no lanes of this width.
  int LanesFor(LaneWidth width) const {
    if (width == LaneWidth::k32) return lanes;
    return width == LaneWidth::k64 && simulate_wide != nullptr ? lanes / 2 : 0;
  }
  // LaneWidthOf(); another width, or none, where this target or thread lacks floats for the model.
  LaneWidth WidthFor(const Model& m) const {
    const LaneWidth width = LaneWidthOf(m);
    const bool floats = multiplies_floats && HasSubnormalFloats<float>();
    const bool tree = m.algorithm.family == Family::kTree;
    if (floats || !(tree ? width == LaneWidth::k32 : NeedsFloats(m))) return width;
    return tree || m.algorithm.family == Family::kFmaChain ? LaneWidth::k64 : LaneWidth::kNone;
  }
  // As Simulate(). There must be lanes for the model, and at least as many rows of A in the batch.
  void Simulate(const Model& m, const Batch& batch, std::span<uint64_t> d) const {
    (WidthFor(m) == LaneWidth::k64 ? simulate_wide : simulate_narrow)(m, batch, d);
  }
  std::unique_ptr<LaneTiles> Tiles(const Model& m, int panels, int columns, bool own) const {
    const bool wide = WidthFor(m) == LaneWidth::k64;
    return (wide ? tiles_wide : tiles_narrow)(m, panels, columns, own);
  }
};

// Best first. Empty if built without Highway.
std::span<const LaneTarget> LaneTargets();

}  // namespace mmadiff
