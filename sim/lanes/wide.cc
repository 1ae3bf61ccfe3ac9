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
#include "sim/lanes/scaled_sum-inl.h"
#include "sim/lanes/simulation-inl.h"
#include "sim/lanes/two_stage_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace wide {

void SimulateWith(const Model& m, const Batch& batch, std::span<uint64_t> d) {
  const FloatRounding rounding(m.algorithm.output_rounding);
  switch (m.algorithm.family) {
    case Family::kIntegerDot:
      return Simulation<IntegerDotLanes>(m, batch, d).Run();
    case Family::kScaledSum:
      return Simulation<ScaledSumLanes>(m, batch, d).Run();
    case Family::kExactSum:
      return Simulation<ExactSumLanes>(m, batch, d).Run();
    case Family::kTwoStageSum:
      return Simulation<TwoStageSumLanes>(m, batch, d).Run();
    default: {
      // AddToOddLanes() accepts products of at most 53 bits.
      const bool is_short = m.a.fraction_bits + m.b.fraction_bits + 2 <= 53;
      if (HasFloatChain(m)) {
        return is_short ? Simulation<FloatChainLanes<ShortProducts>>(m, batch, d).Run()
                        : Simulation<FloatChainLanes<LongProducts>>(m, batch, d).Run();
      }
      is_short ? Simulation<FmaChainLanes<ShortProducts>>(m, batch, d).Run()
               : Simulation<FmaChainLanes<LongProducts>>(m, batch, d).Run();
    }
  }
}

}  // namespace wide
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();
#endif
#endif  // MMADIFF_HAS_HIGHWAY
