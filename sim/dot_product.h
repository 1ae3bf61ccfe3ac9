// One dot product of any model, from words to a word: the scalar implementation of the simulator.
#pragma once

#include <cstdint>

#include "sim/absent_addend.h"
#include "sim/conversion.h"
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

// Decoded operands in, word out, for the floating-point families. In rows, scales follow elements.
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
    case Family::kConversion:
      return Conversion(m, a[0], trace);
    default:
      break;
  }
  return FmaChainOf(m, a, b, c, trace);
}

#ifndef MMADIFF_ON_GPU
// Defined in sim/tree/tree_sum.h, which callers of DotProduct() on the host include.
template <class Trace>
uint64_t TreeDotProduct(const Model& m, const uint64_t* a, const uint64_t* b, uint64_t c,
                        Trace& trace);
#endif

template <class Trace>
MMADIFF_HD constexpr uint64_t DotProductOfOne(const Model& m, const uint64_t* a, const uint64_t* b,
                                              uint64_t c, Trace& trace) {
  if (m.algorithm.family == Family::kIntegerDot) return IntegerDot(m, a, b, c, trace);
#ifndef MMADIFF_ON_GPU
  if (m.algorithm.family == Family::kTree) return TreeDotProduct(m, a, b, c, trace);
#endif
  Unpacked ua[2 * kMaxK], ub[2 * kMaxK];
  for (int k = 0; k < m.k + m.scales(); ++k) {
    ua[k] = Decode(k < m.k ? m.a : m.scale, a[k]);
    ub[k] = Decode(k < m.k ? m.b : m.scale, b[k]);
  }
  return FloatDotProduct(m, ua, ub, c, trace);
}

// Forwards the events of one execution in a chain; its steps and k continue those before it.
template <class Trace>
struct LaterExecution {
  Trace& trace;
  int first_step, first_k, steps = 0;
  MMADIFF_HD constexpr void operator()(Event e) {
    steps = e.step >= steps ? e.step + 1 : steps;
    e.step += first_step;
    if (e.k >= 0) e.k += first_k;
    trace(e);
  }
};

template <class Trace>
MMADIFF_HD constexpr uint64_t ChainedDotProduct(const Model& m, const uint64_t* a,
                                                const uint64_t* b, uint64_t c, Trace& trace) {
  const Model one = OneExecution(m);
  uint64_t row[2 * kMaxK] = {}, column[2 * kMaxK] = {};
  int steps = 0;
  for (int i = 0; i < m.executions; ++i) {
    for (int j = 0; j < one.k + one.scales(); ++j) {
      const int from = j < one.k ? i * one.k + j : m.k + i * one.scales() + j - one.k;
      row[j] = a[from];
      column[j] = b[from];
    }
    if constexpr (kTraces<Trace>) {
      LaterExecution<Trace> later = {trace, steps, i * one.k};
      c = DotProductOfOne(one, row, column, c, later);
      steps += later.steps;
    } else {
      c = DotProductOfOne(one, row, column, c, trace);
    }
  }
  return c;
}

// a and b hold m.k words of formats m.a and m.b, then the scales; c is a word of m.c, which is not
// read if it is absent; the result is a word of m.d.
template <class Trace>
MMADIFF_HD constexpr uint64_t DotProduct(const Model& m, const uint64_t* a, const uint64_t* b,
                                         uint64_t c, Trace& trace) {
  if (HasNoAddend(m)) {
    return DotProductOfOne(WithNeutralAddend(m), a, b, NeutralAddend(m), trace);
  }
  return m.executions > 1 ? ChainedDotProduct(m, a, b, c, trace)
                          : DotProductOfOne(m, a, b, c, trace);
}

}  // namespace mmadiff
