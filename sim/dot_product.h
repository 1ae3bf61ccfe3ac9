// One dot product of any model, from words to a word: the scalar text of the simulator.
#pragma once

#include <cstdint>

#include "sim/exact_sum.h"
#include "sim/fma_chain.h"
#include "sim/fused_sum.h"
#include "sim/integer_dot.h"
#include "sim/pairwise_sum.h"
#include "sim/scaled_sum.h"
#include "sim/two_stage_sum.h"

namespace mmadiff {

template <class Row, class Trace>
MMADIFF_HD constexpr uint64_t FmaChainOf(const Model& m, Row a, Row b, uint64_t c, Trace& trace) {
  return m.a.fraction_bits + m.b.fraction_bits > 46 ? FmaChain<unsigned __int128>(m, a, b, c, trace)
                                                    : FmaChain<uint64_t>(m, a, b, c, trace);
}

// Decoded operands in, word out. For the floating-point families; rows hold the scales behind the
// elements.
template <class Trace>
MMADIFF_HD constexpr uint64_t FloatDotProduct(const Model& m, const Unpacked* a, const Unpacked* b,
                                              uint64_t c, Trace& trace) {
  switch (m.algorithm.family) {
    case Family::kPairwiseSum:
      return PairwiseSum(m, a, b, c, trace);
    case Family::kFusedSum:
      return FusedSum(m, a, b, c, trace);
    case Family::kScaledSum:
      return ScaledSum(m, a, b, c, trace);
    case Family::kExactSum:
      return ExactSum(m, a, b, c, trace);
    case Family::kTwoStageSum:
      return TwoStageSum(m, a, b, c, trace);
    default:
      break;
  }
  return FmaChainOf(m, a, b, c, trace);
}

// a and b hold m.k words of formats m.a and m.b and the scales behind them, c a word of m.c; the
// result is a word of m.d.
template <class Trace>
MMADIFF_HD constexpr uint64_t DotProduct(const Model& m, const uint64_t* a, const uint64_t* b,
                                         uint64_t c, Trace& trace) {
  if (m.algorithm.family == Family::kIntegerDot) return IntegerDot(m, a, b, c, trace);
  Unpacked ua[2 * kMaxK], ub[2 * kMaxK];
  for (int k = 0; k < m.k + m.scales(); ++k) {
    ua[k] = Decode(k < m.k ? m.a : m.scale, a[k]);
    ub[k] = Decode(k < m.k ? m.b : m.scale, b[k]);
  }
  return FloatDotProduct(m, ua, ub, c, trace);
}

}  // namespace mmadiff
