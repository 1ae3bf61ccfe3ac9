// One dot product of any model, from words to a word: the scalar text of the simulator.
#pragma once

#include <cstdint>

#include "sim/fma_chain.h"
#include "sim/fused_sum.h"
#include "sim/integer_dot.h"

namespace mmadiff {

// Decoded operands in, word out. For the two floating-point families.
template <class Trace>
MMADIFF_HD constexpr uint64_t FloatDotProduct(const Model& m, const Unpacked* a, const Unpacked* b,
                                              uint64_t c, Trace& trace) {
  if (m.algorithm.family == Family::kFusedSum) return FusedSum(m, a, b, c, trace);
  return m.a.fraction_bits + m.b.fraction_bits > 46 ? FmaChain<unsigned __int128>(m, a, b, c, trace)
                                                    : FmaChain<uint64_t>(m, a, b, c, trace);
}

// a and b hold m.k words of formats m.a and m.b, c a word of m.c; the result is a word of m.d.
template <class Trace>
MMADIFF_HD constexpr uint64_t DotProduct(const Model& m, const uint64_t* a, const uint64_t* b,
                                         uint64_t c, Trace& trace) {
  if (m.algorithm.family == Family::kIntegerDot) return IntegerDot(m, a, b, c, trace);
  Unpacked ua[kMaxK], ub[kMaxK];
  for (int k = 0; k < m.k; ++k) {
    ua[k] = Decode(m.a, a[k]);
    ub[k] = Decode(m.b, b[k]);
  }
  return FloatDotProduct(m, ua, ub, c, trace);
}

}  // namespace mmadiff
