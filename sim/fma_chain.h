// d = c; for every k in order: d = fma(a_k, b_k, d), rounded to the output format.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/round.h"
#include "sim/trace.h"

namespace mmadiff {

// First NaN of (a, b, c) by the rule; `words` are the operands widened to the output format.
MMADIFF_HD constexpr uint64_t SelectNan(const Format& d, NanRule rule, const Unpacked& a,
                                        const Unpacked& b, const Unpacked& c, int a_fraction_bits,
                                        int b_fraction_bits) {
  if (rule != NanRule::kPropagate) return DefaultNan(d, rule);
  const Unpacked& nan = a.kind == Kind::kNan ? a : b.kind == Kind::kNan ? b : c;
  if (nan.kind != Kind::kNan) return DefaultNan(d, rule);
  const int fraction_bits = &nan == &a   ? a_fraction_bits
                            : &nan == &b ? b_fraction_bits
                                         : d.fraction_bits;
  const uint64_t payload = (nan.significand & LowBits(fraction_bits))
                           << (d.fraction_bits - fraction_bits);
  return InfinityWord(d, nan.negative) | 1ull << (d.fraction_bits - 1) | payload;
}

// One fused multiply-add with a single rounding. c is in the output format. `Wide` holds twice the
// significand of a product: uint64_t up to 24-bit operands, unsigned __int128 for f64.
template <class Wide, class Trace>
MMADIFF_HD constexpr uint64_t FmaStep(const Model& m, Unpacked a, Unpacked b, Unpacked c, int step,
                                      int k, Trace& trace) {
  const Algorithm& alg = m.algorithm;
  if (alg.input_subnormals == Subnormals::kFlush) {
    if (a.significand < 1ull << m.a.fraction_bits) a.significand = 0;
    if (b.significand < 1ull << m.b.fraction_bits) b.significand = 0;
    if (c.significand < 1ull << m.d.fraction_bits) c.significand = 0;
  }
  const bool product_negative = a.negative != b.negative;
  if (a.kind != Kind::kFinite || b.kind != Kind::kFinite || c.kind != Kind::kFinite) {
    const bool nan = a.kind == Kind::kNan || b.kind == Kind::kNan || c.kind == Kind::kNan;
    const bool product_infinite = a.kind == Kind::kInfinite || b.kind == Kind::kInfinite;
    const bool zero_factor = (a.kind == Kind::kFinite && a.significand == 0) ||
                             (b.kind == Kind::kFinite && b.significand == 0);
    const bool invalid = product_infinite && (zero_factor || (c.kind == Kind::kInfinite &&
                                                              c.negative != product_negative));
    const uint64_t word =
        nan || invalid
            ? SelectNan(m.d, alg.nan_rule, a, b, c, m.a.fraction_bits, m.b.fraction_bits)
            : InfinityWord(m.d, product_infinite ? product_negative : c.negative);
    trace(Event{Stage::kSpecial, step, k, false, word, 0, false});
    return word;
  }
  // Both terms with their leading one just below the top two bits: room for the carry of the sum,
  // and far more trailing zeros than the one bit that a cancellation of shifted terms can cost.
  constexpr int kTop = 8 * sizeof(Wide) - 2;
  Wide product = static_cast<Wide>(a.significand) * b.significand;
  int product_lsb = a.exponent + b.exponent - m.a.fraction_bits - m.b.fraction_bits;
  trace(Event{Stage::kProduct, step, k, product_negative, product, product_lsb, false});
  Wide addend = c.significand;
  int addend_lsb = c.exponent - m.d.fraction_bits;
  if (product != 0) {
    const int up = kTop - BitWidth(product);
    product <<= up;
    product_lsb -= up;
  }
  if (addend != 0) {
    const int up = kTop - BitWidth(addend);
    addend <<= up;
    addend_lsb -= up;
  }
  int lsb = product == 0 ? addend_lsb : addend == 0 ? product_lsb : 0;
  if (product != 0 && addend != 0) {
    lsb = product_lsb > addend_lsb ? product_lsb : addend_lsb;
    product = ShiftRight<Wide>(product, lsb - product_lsb, Rounding::kToOdd, false).magnitude;
    addend = ShiftRight<Wide>(addend, lsb - addend_lsb, Rounding::kToOdd, false).magnitude;
  }
  Wide sum;
  bool negative;
  if (product_negative == c.negative) {
    sum = product + addend;
    negative = c.negative;
  } else {
    negative = product > addend ? product_negative : c.negative;
    sum = product > addend ? product - addend : addend - product;
    if (sum == 0) negative = alg.output_rounding == Rounding::kDown;
  }
  trace(Event{Stage::kSum, step, k, negative, sum, lsb, false});
  bool inexact = false;
  uint64_t word = RoundPack<Wide>(m.d, alg, negative, sum, lsb, &inexact);
  trace(Event{Stage::kRounded, step, k, false, word, 0, inexact});
  return word;
}

// a and b hold m.k decoded operands; c is a word of the output format.
template <class Wide, class Trace>
MMADIFF_HD constexpr uint64_t FmaChain(const Model& m, const Unpacked* a, const Unpacked* b,
                                       uint64_t c, Trace& trace) {
  for (int step = 0; step < m.k; ++step) {
    const int k = m.algorithm.order == Order::kAscending ? step : m.k - 1 - step;
    c = FmaStep<Wide>(m, a[k], b[k], Decode(m.d, c), step, k, trace);
  }
  return c;
}

}  // namespace mmadiff
