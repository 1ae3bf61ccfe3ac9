// 64-bit lanes. Compiled, like lanes.cc, once for each kind of vectors that has at least four of
// them.
#define MMADIFF_WIDE_LANES 1
#include "sim/lanes/vectors.h"

#if MMADIFF_HAS_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/lanes/wide.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h: these are included once for each kind of vectors.
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR  // none

#include "sim/lanes/exact_sum-inl.h"
#include "sim/lanes/fma_chain-inl.h"
#include "sim/lanes/integer_dot-inl.h"
#include "sim/lanes/pairwise_sum-inl.h"
#include "sim/lanes/scaled_sum-inl.h"
#include "sim/lanes/simulation-inl.h"
#include "sim/lanes/tree_sum-inl.h"
#include "sim/lanes/two_stage_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace wide {

// Calls use.template operator()<Family>().
template <class Use>
auto WithFamily(const Model& m, const Use& use) {
  switch (m.algorithm.family) {
    case Family::kPairwiseSum:
      return use.template operator()<FloatPairsLanes>();
    case Family::kIntegerDot:
      return use.template operator()<IntegerDotLanes>();
    case Family::kScaledSum:
      return use.template operator()<ScaledSumLanes>();
    case Family::kExactSum:
      return use.template operator()<ExactSumLanes>();
    case Family::kTree:
      return use.template operator()<TreeSumLanes>();
    case Family::kTwoStageSum:
      return use.template operator()<TwoStageSumLanes>();
    default:
      break;
  }
  // AddToOddLanes() accepts products of at most 53 bits.
  const bool is_short = m.a.fraction_bits + m.b.fraction_bits + 2 <= 53;
  if (HasFloatChain(m)) {
    return is_short ? use.template operator()<FloatChainLanes<ShortProducts>>()
                    : use.template operator()<FloatChainLanes<LongProducts>>();
  }
  return is_short ? use.template operator()<FmaChainLanes<ShortProducts>>()
                  : use.template operator()<FmaChainLanes<LongProducts>>();
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

}  // namespace wide
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();
#endif
#endif  // MMADIFF_HAS_HIGHWAY
