// Compiled once for each kind of vectors: foreach_target.h includes this file repeatedly.
#include "sim/lanes/lanes.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "sim/lanes/vectors.h"

#if MMADIFF_HAS_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/lanes/lanes.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: these are included once for each kind of vectors.
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR  // none

#include "sim/exact_sum.h"
#include "sim/integer_dot.h"
#include "sim/lanes/float_tree-inl.h"
#include "sim/lanes/fma_chain-inl.h"
#include "sim/lanes/fused_sum-inl.h"
#include "sim/lanes/integer_dot-inl.h"
#include "sim/lanes/pairwise_sum-inl.h"
#include "sim/lanes/simulation-inl.h"
#include "sim/lanes/tree_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace wide {
#if HWY_MAX_BYTES > 16
void SimulateWith(const Model& m, const Batch& batch, std::span<uint64_t> d);  // wide.cc
std::unique_ptr<LaneTiles> MakeTiles(const Model& m, int panels, int columns, bool own);
[[maybe_unused]] constexpr LaneTarget::SimulateBatch* kSimulate = &SimulateWith;
[[maybe_unused]] constexpr LaneTarget::MakeTiles* kMakeTiles = &MakeTiles;
void Turn(const Words& rows, int count, int64_t step, void* to);
void TurnBackRows(const void* from, int count, const MutableWords& rows);
[[maybe_unused]] constexpr LaneTarget::TurnRows* kTurn = &Turn;
[[maybe_unused]] constexpr LaneTarget::TurnRowsBack* kTurnBack = &TurnBackRows;
#else
[[maybe_unused]] constexpr LaneTarget::SimulateBatch* kSimulate = nullptr;
[[maybe_unused]] constexpr LaneTarget::MakeTiles* kMakeTiles = nullptr;
[[maybe_unused]] constexpr LaneTarget::TurnRows* kTurn = nullptr;
[[maybe_unused]] constexpr LaneTarget::TurnRowsBack* kTurnBack = nullptr;
#endif
}  // namespace wide
namespace narrow {

// Calls use.template operator()<Family>().
template <class Use>
auto WithFamily(const Model& m, const Use& use) {
  switch (m.algorithm.family) {
    case Family::kFmaChain:
      return HasFloatChain(m) ? use.template operator()<FloatChainLanes<ShortProducts>>()
                              : use.template operator()<FmaChainLanes<ShortProducts>>();
    case Family::kPairwiseSum:
      return HasFloatPairs(m) ? use.template operator()<FloatPairsLanes>()
                              : use.template operator()<PairwiseSumLanes>();
    case Family::kIntegerDot:
      return use.template operator()<IntegerDotLanes>();
    case Family::kTree:
      return use.template operator()<FloatTreeLanes>();
    default:
      using enum FusedFloats;
      if (HasSmallExponents(m)) return use.template operator()<FusedSumLanes<kSmallNumbers>>();
      return AreProductsFloats(m) ? use.template operator()<FusedSumLanes<kNumbers>>()
                                  : use.template operator()<FusedSumLanes<kSignificands>>();
  }
}

void SimulateWith(const Model& m, const Batch& batch, std::span<uint64_t> d) {
  WithFamily(m, [&]<class F>() { Simulation<F>::Run(m, batch, d); });
}
std::unique_ptr<LaneTiles> MakeTiles(const Model& m, int panels, int columns, bool own) {
  return WithFamily(m, [&]<class F>() { return Simulation<F>::Tiles(m, panels, columns, own); });
}
void Turn(const Words& rows, int count, int64_t step, void* to) {
  TurnWords(rows, count, step, to);
}
void TurnBackRows(const void* from, int count, const MutableWords& rows) {
  TurnBack(from, count, rows);
}
[[maybe_unused]] constexpr bool kMultipliesFloats = HWY_NATIVE_FMA;
int CountLanes() { return static_cast<int>(hn::Lanes(kLane)); }

}  // namespace narrow
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace mmadiff {
namespace {

// Whether lanes support addends and results of the format.
bool IsLaneResult(const Format& f) {
  return f.nonfinite == Nonfinite::kIeee && f.ignored_bits == 0;
}

// The same for 32-bit lanes.
bool IsNarrowResult(const Format& f) {
  return IsLaneResult(f) && f.bits <= 32 && f.fraction_bits <= kNarrowFraction;
}

// Whether 64 bits can hold a sum of groups.
bool HasWideGroups(const Model& m) {
  const Algorithm& alg = m.algorithm;
  if (!HasNarrowGroups(m) || !IsLaneResult(m.c) || !IsLaneResult(m.d)) return false;
  // Bits of the largest group, including its largest upward shift.
  const int units = m.a.min_exponent - m.a.fraction_bits + m.b.min_exponent - m.b.fraction_bits;
  const int group = IntegerBits(m.a) + IntegerBits(m.b) + 2 * (m.scale.fraction_bits + 1);
  const int bits = group + std::max(alg.fraction_bits + units - 2 * m.scale.fraction_bits, 0);
  const int terms = std::bit_width(static_cast<unsigned>(m.k));
  return alg.addend_joins == AddendJoins::kFirstStep && alg.grouping == Grouping::kConsecutive &&
         alg.align_rounding == Rounding::kTowardZero && !HasInfinity(m.scale) &&
         std::max(bits, alg.fraction_bits + 1) + terms + 1 <= 62;
}

// Whether limbs can hold an exact sum: they must cover all units of terms, from least to largest,
// and in each limb the terms, shifted up by at most 31, must add up within 62 bits.
bool FitsLimbs(const Model& m) {
  const int product_bits = m.a.fraction_bits + m.b.fraction_bits;
  int low = m.a.min_exponent + m.b.min_exponent - product_bits;
  int high = MaxExponent(m.a) + MaxExponent(m.b) - product_bits;
  for (const Format* f : {&m.c, &m.d}) {
    low = std::min(low, f->min_exponent - f->fraction_bits);
    high = std::max(high, MaxExponent(*f) - f->fraction_bits);
  }
  const int bits = std::max({product_bits + 2, m.c.fraction_bits + 1, m.d.fraction_bits + 1});
  const unsigned terms = std::min(m.algorithm.terms, m.k) + 1;
  return high - low < 32 * LongSum::kLimbs && bits + 31 + std::bit_width(terms) <= 62;
}

// Whether operands and results have at most 32 bits.
bool IsNarrow(const Model& m) {
  return IsNarrowResult(m.c) && IsNarrowResult(m.d) && m.a.bits <= 32 && m.b.bits <= 32;
}

// For kFusedSum, and for kScaledSum with a power of two for each product.
bool HasNarrowSums(const Model& m) {
  const Algorithm& alg = m.algorithm;
  const auto fits = [](const Format& f) { return f.fraction_bits + f.ignored_bits <= 23; };
  const bool aligns = alg.product_exponent == ProductExponent::kRaw ||
                      (alg.family == Family::kFusedSum && AreProductsFloats(m));
  // The sum of a step has at most 36 bits.
  const int64_t terms = std::min(alg.terms, m.k);
  const int bits = std::max(m.a.fraction_bits + m.b.fraction_bits, alg.fraction_bits);
  return fits(m.a) && fits(m.b) && HasNarrowRows(m) && aligns && terms << bits <= 1ll << 33 &&
         alg.addend_joins != AddendJoins::kStepsApart;
}

bool HasLanesOf32(const Model& m) {
  if (m.algorithm.family == Family::kTree) return IsFloatTree(m);
  if (m.algorithm.family == Family::kIntegerDot) {
    return HasNarrowIntegers(m) && m.c.bits == 32 && m.d.bits == 32;
  }
  if (!IsNarrow(m)) return false;
  if (m.a.fraction_bits + m.b.fraction_bits + 2 > 24) return m.d.bits == 32 && NeedsFloats(m);
  switch (m.algorithm.family) {
    case Family::kFmaChain:
    case Family::kPairwiseSum:
      return true;
    case Family::kFusedSum:
    case Family::kScaledSum:
      return !HasWideGroups(m) && HasNarrowSums(m);
    default:
      return false;
  }
}

bool HasLanesOf64(const Model& m) {
  const Algorithm& alg = m.algorithm;
  switch (alg.family) {
    case Family::kIntegerDot:
      return m.a.bits <= 16 && m.b.bits <= 16;
    case Family::kFmaChain:
      return IsLaneResult(m.c) && IsLaneResult(m.d);
    case Family::kPairwiseSum:
      return m.d.bits == 64 && NeedsFloats(m);
    case Family::kScaledSum:
      return HasWideGroups(m);
    case Family::kExactSum:
      return IsNarrow(m) && FitsLimbs(m);
    case Family::kTree:
      return MakeTreeLanePlan(m) != nullptr;
    case Family::kTwoStageSum:
      // Elements of A are shifted up within 32 bits.
      return m.a.fraction_bits + 1 + NarrowUp(m) <= 32 && IsLaneResult(m.d) &&
             alg.product_exponent == ProductExponent::kRaw && alg.zero_term == ZeroTerm::kIgnored &&
             alg.align_rounding == Rounding::kTowardZero;
    default:
      return false;
  }
}

std::vector<LaneTarget> FindLaneTargets() {
  std::vector<LaneTarget> found;
#define MMADIFF_ADD(target)                                                                        \
  if (Has##target())                                                                               \
    found.push_back({#target, N_##target::narrow::CountLanes(), &N_##target::narrow::SimulateWith, \
                     N_##target::wide::kSimulate, &N_##target::narrow::MakeTiles,                  \
                     N_##target::wide::kMakeTiles, N_##target::narrow::kMultipliesFloats,          \
                     &N_##target::narrow::Turn, N_##target::wide::kTurn,                           \
                     &N_##target::narrow::TurnBackRows, N_##target::wide::kTurnBack});
  MMADIFF_EACH_VECTOR(MMADIFF_ADD)
#undef MMADIFF_ADD
  return found;
}

}  // namespace

// Whether multiplications and additions are as in every row of the tables.
bool HasUsualSteps(const Algorithm& alg) {
  return alg.multiply_add == MultiplyAdd::kFused && alg.far_product == FarProduct::kExact &&
         alg.pair_sum == PairSum::kExact;
}

LaneWidth LaneWidthOf(const Model& m) {
  const bool infinite_scales = m.scale_block > 0 && HasInfinity(m.scale);
  if (!HasUsualSteps(m.algorithm) || infinite_scales) return LaneWidth::kNone;
  if (HasLanesOf32(m)) return LaneWidth::k32;
  return HasLanesOf64(m) ? LaneWidth::k64 : LaneWidth::kNone;
}

std::span<const LaneTarget> LaneTargets() {
  static const std::vector<LaneTarget> targets = FindLaneTargets();
  return targets;
}

}  // namespace mmadiff
#endif  // HWY_ONCE

#else  // no Highway

namespace mmadiff {

LaneWidth LaneWidthOf(const Model&) { return LaneWidth::kNone; }
std::span<const LaneTarget> LaneTargets() { return {}; }

}  // namespace mmadiff
#endif
