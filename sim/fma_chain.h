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

// x * 2^-shift to odd, shift >= 0; x < 2^(bits - 1). Without branches.
template <class Wide>
MMADIFF_HD constexpr Wide Jam(Wide x, int shift) {
  constexpr int kMax = 8 * sizeof(Wide) - 1;
  const int s = shift < kMax ? shift : kMax;
  const Wide kept = x >> s;
  return kept | ((kept << s) != x);
}

// The specials of one fused multiply-add: some operand is not finite.
MMADIFF_HD constexpr uint64_t FmaSpecials(const Model& m, const Unpacked& a, const Unpacked& b,
                                          const Unpacked& c) {
  const bool product_negative = a.negative != b.negative;
  const bool nan = a.kind == Kind::kNan || b.kind == Kind::kNan || c.kind == Kind::kNan;
  const bool product_infinite = a.kind == Kind::kInfinite || b.kind == Kind::kInfinite;
  const bool zero_factor = (a.kind == Kind::kFinite && a.significand == 0) ||
                           (b.kind == Kind::kFinite && b.significand == 0);
  const bool opposite = c.kind == Kind::kInfinite && c.negative != product_negative;
  if (nan || (product_infinite && (zero_factor || opposite))) {
    return SelectNan(m.d, m.algorithm.nan_rule, a, b, c, m.a.fraction_bits, m.b.fraction_bits);
  }
  return InfinityWord(m.d, product_infinite ? product_negative : c.negative);
}

// One fused multiply-add with a single rounding. c is in the output format. `Wide` holds twice the
// significand of a product: uint64_t up to 24-bit operands, unsigned __int128 for f64.
template <class Wide, class Trace>
MMADIFF_HD constexpr uint64_t FmaStep(const Model& m, Unpacked a, Unpacked b, Unpacked c, int step,
                                      int k, Trace& trace) {
  const Algorithm& alg = m.algorithm;
  if (alg.input_subnormals == Subnormals::kFlush) {
    a.significand = a.significand >> m.a.fraction_bits ? a.significand : 0;
    b.significand = b.significand >> m.b.fraction_bits ? b.significand : 0;
    c.significand = c.significand >> m.d.fraction_bits ? c.significand : 0;
  }
  const unsigned kinds =
      static_cast<unsigned>(a.kind) | static_cast<unsigned>(b.kind) | static_cast<unsigned>(c.kind);
  if (kinds != 0) {
    const uint64_t word = FmaSpecials(m, a, b, c);
    trace(Event{Stage::kSpecial, step, k, false, word, 0, false});
    return word;
  }
  const bool product_negative = a.negative != b.negative;
  Wide product = static_cast<Wide>(a.significand) * b.significand;
  int product_lsb = a.exponent + b.exponent - m.a.fraction_bits - m.b.fraction_bits;
  trace(Event{Stage::kProduct, step, k, product_negative, product, product_lsb, false});
  Wide addend = c.significand;
  int addend_lsb = c.exponent - m.d.fraction_bits;
  // Both terms with their leading one just below the top two bits: room for the sign and the carry
  // of the sum, and far more trailing zeros than the one bit that a cancellation of shifted terms
  // can cost. A zero takes the other's exponent.
  constexpr int kTop = 8 * sizeof(Wide) - 2;
  const int product_up = kTop - BitWidth(product), addend_up = kTop - BitWidth(addend);
  product_lsb = product == 0 ? addend_lsb - addend_up : product_lsb - product_up;
  addend_lsb = addend == 0 ? product_lsb : addend_lsb - addend_up;
  const int lsb = product_lsb > addend_lsb ? product_lsb : addend_lsb;
  product = Jam<Wide>(product << product_up, lsb - product_lsb);
  addend = Jam<Wide>(addend << addend_up, lsb - addend_lsb);

  const Wide product_sign = -static_cast<Wide>(product_negative);
  const Wide addend_sign = -static_cast<Wide>(c.negative);
  const Wide sum =
      ((product ^ product_sign) - product_sign) + ((addend ^ addend_sign) - addend_sign);
  bool negative = sum >> (8 * sizeof(Wide) - 1);
  if (sum == 0) {
    negative = product_negative == c.negative ? c.negative : alg.output_rounding == Rounding::kDown;
  }
  const Wide sum_sign = -(sum >> (8 * sizeof(Wide) - 1));
  const Wide magnitude = (sum ^ sum_sign) - sum_sign;
  trace(Event{Stage::kSum, step, k, negative, magnitude, lsb, false});
  bool inexact = false;
  const uint64_t word = RoundPack<Wide>(m.d, alg, negative, magnitude, lsb, &inexact);
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
