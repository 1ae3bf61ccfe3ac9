// Chains of fused multiply-adds, each rounded once to the output format: d = fma(a_k, b_k, d) for
// every k in order, starting from the addend or +0 (AddendJoins), in one chain or two (Grouping).
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/round.h"
#include "sim/trace.h"

namespace mmadiff {

// The first NaN of a, b and c in the order of the rule, quieted, in the output format. c has that
// format; the fractions of a and b are no longer. The default NaN if no operand is a NaN or the
// rule does not propagate.
MMADIFF_HD constexpr uint64_t SelectNan(const Format& d, NanRule rule, const Unpacked& a,
                                        const Unpacked& b, const Unpacked& c, int a_fraction_bits,
                                        int b_fraction_bits) {
  if (!Propagates(rule)) return DefaultNan(d, rule);
  const bool a_last = rule == NanRule::kPropagateBca;
  const Unpacked& nan = !a_last && a.kind == Kind::kNan ? a
                        : b.kind == Kind::kNan          ? b
                        : c.kind == Kind::kNan          ? c
                                                        : a;
  if (nan.kind != Kind::kNan) return DefaultNan(d, rule);
  const int fraction_bits = &nan == &a   ? a_fraction_bits
                            : &nan == &b ? b_fraction_bits
                                         : d.fraction_bits;
  const uint64_t payload = (nan.significand & LowBits(fraction_bits))
                           << (d.fraction_bits - fraction_bits);
  return InfinityWord(d, nan.negative) | 1ull << (d.fraction_bits - 1) | payload;
}

// x * 2^-shift rounded to odd, shift >= 0, x < 2^(bits - 1). Branch-free.
template <class Wide>
MMADIFF_HD constexpr Wide Jam(Wide x, int shift) {
  constexpr int kMax = 8 * sizeof(Wide) - 1;
  const int s = shift < kMax ? shift : kMax;
  const Wide kept = x >> s;
  return kept | ((kept << s) != x);
}

MMADIFF_HD constexpr Unpacked Flushed(const Format& f, Subnormals rule, Unpacked x) {
  const bool small = x.kind == Kind::kFinite && x.significand >> f.fraction_bits == 0;
  if (rule != Subnormals::kKeep && small) x.significand = 0;
  if (rule == Subnormals::kFlushPositive && small) x.negative = false;
  return x;
}

// a * b + c where at least one operand is not finite. c has the output format d.
MMADIFF_HD_RARE constexpr uint64_t FmaSpecials(const Format& d, NanRule rule, const Unpacked& a,
                                               const Unpacked& b, const Unpacked& c,
                                               int a_fraction_bits, int b_fraction_bits) {
  const bool product_negative = a.negative != b.negative;
  const bool nan = a.kind == Kind::kNan || b.kind == Kind::kNan || c.kind == Kind::kNan;
  const bool product_infinite = a.kind == Kind::kInfinite || b.kind == Kind::kInfinite;
  const bool zero_factor = (a.kind == Kind::kFinite && a.significand == 0) ||
                           (b.kind == Kind::kFinite && b.significand == 0);
  const bool opposite = c.kind == Kind::kInfinite && c.negative != product_negative;
  if (nan || (product_infinite && (zero_factor || opposite))) {
    return SelectNan(d, rule, a, b, c, a_fraction_bits, b_fraction_bits);
  }
  return InfinityWord(d, product_infinite ? product_negative : c.negative);
}

template <class Wide>
struct SignedSum {
  bool negative;  // for a zero, whether both terms were negative
  Wide magnitude;
  int lsb;  // exponent of the unit of magnitude; its last bit is sticky
};

// (-1)^x_negative * x * 2^x_lsb plus the same for y, rounded to odd; x, y < 2^(bits of Wide - 2).
template <class Wide>
MMADIFF_HD constexpr SignedSum<Wide> AddToOdd(bool x_negative, Wide x, int x_lsb, bool y_negative,
                                              Wide y, int y_lsb) {
  // Both terms are shifted so that their leading one is just below the top two bits. That leaves
  // room for the sum's sign and carry, and far more trailing zeros than the one bit that
  // cancellation of shifted terms can cost. A zero takes the other term's exponent.
  constexpr int kTop = 8 * sizeof(Wide) - 2, kSign = 8 * sizeof(Wide) - 1;
  const int x_up = kTop - BitWidth(x), y_up = kTop - BitWidth(y);
  x_lsb = x == 0 ? y_lsb - y_up : x_lsb - x_up;
  y_lsb = y == 0 ? x_lsb : y_lsb - y_up;
  const int lsb = x_lsb > y_lsb ? x_lsb : y_lsb;
  x = Jam<Wide>(x << x_up, lsb - x_lsb);
  y = Jam<Wide>(y << y_up, lsb - y_lsb);
  const Wide x_sign = -static_cast<Wide>(x_negative), y_sign = -static_cast<Wide>(y_negative);
  const Wide sum = ((x ^ x_sign) - x_sign) + ((y ^ y_sign) - y_sign);
  const Wide sign = -(sum >> kSign);
  const bool negative = sum == 0 ? x_negative && y_negative : sign != 0;
  return {negative, (sum ^ sign) - sign, lsb};
}

// The exact x + y, rounded once to the output.
template <class Wide, class Trace>
MMADIFF_HD constexpr uint64_t RoundTwo(const Model& m, SignedSum<Wide> x, SignedSum<Wide> y,
                                       int step, int k, Trace& trace) {
  const Algorithm& alg = m.algorithm;
  SignedSum<Wide> sum =
      AddToOdd<Wide>(x.negative, x.magnitude, x.lsb, y.negative, y.magnitude, y.lsb);
  if (sum.magnitude == 0 && x.negative != y.negative) {
    sum.negative = alg.output_rounding == Rounding::kDown;
  }
  trace(Event{Stage::kSum, step, k, sum.negative, sum.magnitude, sum.lsb, false});
  // 64 bits with a sticky last one are enough to round to the 53 bits of f64.
  const int excess = BitWidth(sum.magnitude) > 64 ? BitWidth(sum.magnitude) - 64 : 0;
  const uint64_t magnitude = static_cast<uint64_t>(Jam<Wide>(sum.magnitude, excess));
  bool inexact = false;
  const uint64_t word =
      RoundPack<uint64_t>(m.d, alg, sum.negative, magnitude, sum.lsb + excess, &inexact);
  trace(Event{Stage::kRounded, step, k, false, word, 0, inexact});
  return word;
}

// x + y for words of the output format: flushed by `rule`, rounded by the algorithm, NaNs as for
// x * 1 + y.
template <class Wide, class Trace>
MMADIFF_HD constexpr uint64_t Add(const Model& m, Subnormals rule, uint64_t x_word, uint64_t y_word,
                                  int step, Trace& trace) {
  const Unpacked x = Flushed(m.d, rule, Decode(m.d, x_word));
  const Unpacked y = Flushed(m.d, rule, Decode(m.d, y_word));
  if ((static_cast<unsigned>(x.kind) | static_cast<unsigned>(y.kind)) != 0) {
    const Unpacked one = {1ull << m.d.fraction_bits, 0, false, Kind::kFinite};
    const uint64_t word =
        FmaSpecials(m.d, m.algorithm.nan_rule, x, one, y, m.d.fraction_bits, m.d.fraction_bits);
    trace(Event{Stage::kSpecial, step, -1, false, word, 0, false});
    return word;
  }
  const int x_lsb = x.exponent - m.d.fraction_bits;
  trace(Event{Stage::kProduct, step, -1, x.negative, x.significand, x_lsb, false});
  return RoundTwo<Wide>(m, {x.negative, x.significand, x_lsb},
                        {y.negative, y.significand, y.exponent - m.d.fraction_bits}, step, -1,
                        trace);
}

// Whether FarProduct applies to a product next to an addend. Neither is an infinity or a NaN.
template <class Wide>
MMADIFF_HD constexpr bool IsFar(const Model& m, const SignedSum<Wide>& product,
                                const SignedSum<Wide>& addend) {
  if (product.magnitude == 0 || addend.magnitude == 0) return false;
  const int leading = BitWidth(product.magnitude) + product.lsb;
  return BitWidth(addend.magnitude) + addend.lsb - leading > m.algorithm.output_fraction_bits;
}

// The number next to the addend, a word, away from zero or toward it.
MMADIFF_HD constexpr uint64_t NextNumber(const Model& m, uint64_t addend, bool away) {
  const Unpacked next = Decode(m.d, away ? addend + 1 : addend - 1);
  if (next.kind != Kind::kFinite) return OverflowWord(m.d, m.algorithm, next.negative);
  bool inexact = false;
  return RoundPack<uint64_t>(m.d, m.algorithm, next.negative, next.significand,
                             next.exponent - m.d.fraction_bits, &inexact);
}

// The product rounded to the output, plus c; `word` is c's word.
template <class Wide, class Trace>
MMADIFF_HD_RARE constexpr uint64_t SeparateStep(const Model& m, const Unpacked& a,
                                                const Unpacked& b, uint64_t word, int step, int k,
                                                Trace& trace) {
  const bool negative = a.negative != b.negative;
  const Unpacked zero = {0, m.d.min_exponent, negative, Kind::kFinite};
  uint64_t product = 0;
  if ((static_cast<unsigned>(a.kind) | static_cast<unsigned>(b.kind)) != 0) {
    product =
        FmaSpecials(m.d, m.algorithm.nan_rule, a, b, zero, m.a.fraction_bits, m.b.fraction_bits);
    trace(Event{Stage::kSpecial, step, k, false, product, 0, false});
  } else {
    const int lsb = a.exponent + b.exponent - m.a.fraction_bits - m.b.fraction_bits;
    const Wide magnitude = static_cast<Wide>(a.significand) * b.significand;
    trace(Event{Stage::kProduct, step, k, negative, magnitude, lsb, false});
    product = RoundTwo<Wide>(m, {negative, magnitude, lsb}, {negative, 0, lsb}, step, k, trace);
  }
  return Add<Wide>(m, m.algorithm.addend_subnormals, product, word, step, trace);
}

// One multiply-add. c is a word of the output format. `Wide` is uint64_t for operands of up to 24 bits,
// unsigned __int128 for f64.
template <class Wide, class Trace>
MMADIFF_HD constexpr uint64_t FmaStep(const Model& m, Unpacked a, Unpacked b, uint64_t c_word,
                                      int step, int k, Trace& trace) {
  const Algorithm& alg = m.algorithm;
  if (alg.input_subnormals != Subnormals::kKeep) {
    a = Flushed(m.a, alg.input_subnormals, a);
    b = Flushed(m.b, alg.input_subnormals, b);
  }
  Unpacked c = Decode(m.d, c_word);
  if (alg.addend_subnormals != Subnormals::kKeep) c = Flushed(m.d, alg.addend_subnormals, c);
  if (kSimulatesUnusual && alg.multiply_add == MultiplyAdd::kSeparate) {
    return SeparateStep<Wide>(m, a, b, c_word, step, k, trace);
  }
  const unsigned kinds =
      static_cast<unsigned>(a.kind) | static_cast<unsigned>(b.kind) | static_cast<unsigned>(c.kind);
  if (kinds != 0) {
    const uint64_t word =
        FmaSpecials(m.d, alg.nan_rule, a, b, c, m.a.fraction_bits, m.b.fraction_bits);
    trace(Event{Stage::kSpecial, step, k, false, word, 0, false});
    return word;
  }
  const bool negative = a.negative != b.negative;
  const Wide product = static_cast<Wide>(a.significand) * b.significand;
  const int product_lsb = a.exponent + b.exponent - m.a.fraction_bits - m.b.fraction_bits;
  trace(Event{Stage::kProduct, step, k, negative, product, product_lsb, false});
  const SignedSum<Wide> addend = {c.negative, c.significand, c.exponent - m.d.fraction_bits};
  SignedSum<Wide> exact = {negative, product, product_lsb};
  if (kSimulatesUnusual && alg.far_product != FarProduct::kExact && IsFar<Wide>(m, exact, addend)) {
    const bool same = negative == c.negative;
    if (alg.far_product == FarProduct::kDropped) exact.magnitude = 0;
    if (alg.far_product == FarProduct::kOneUlp ||
        (alg.far_product == FarProduct::kOppositeOneUlp && !same)) {
      const uint64_t word = NextNumber(m, c_word, same);
      trace(Event{Stage::kRounded, step, k, false, word, 0, true});
      return word;
    }
  }
  return RoundTwo<Wide>(m, exact, addend, step, k, trace);
}

// The chain over every `stride`-th k from `first` on, starting with the word c. Advances `step`.
template <class Wide, class Row, class Trace>
MMADIFF_HD constexpr uint64_t Chain(const Model& m, Row a, Row b, uint64_t c, int first, int stride,
                                    int& step, Trace& trace) {
  const int count = (m.k - first + stride - 1) / stride;
  for (int i = 0; i < count; ++i, ++step) {
    const int k = first + stride * (m.algorithm.order == Order::kAscending ? i : count - 1 - i);
    c = FmaStep<Wide>(m, a[k], b[k], c, step, k, trace);
  }
  return c;
}

// a and b hold m.k decoded operands; c is a word of the output format.
template <class Wide, class Row, class Trace>
MMADIFF_HD constexpr uint64_t FmaChain(const Model& m, Row a, Row b, uint64_t c, Trace& trace) {
  int step = 0;
  if (m.algorithm.addend_joins == AddendJoins::kFirstStep) {
    return Chain<Wide>(m, a, b, c, 0, 1, step, trace);
  }
  const Subnormals rule = m.algorithm.addend_subnormals;
  const bool apart = m.algorithm.grouping == Grouping::kEvenOdd;
  uint64_t sum = Chain<Wide>(m, a, b, 0, 0, apart ? 2 : 1, step, trace);
  if (apart) {
    const uint64_t odd = Chain<Wide>(m, a, b, 0, 1, 2, step, trace);
    sum = Add<Wide>(m, rule, sum, odd, step++, trace);
  }
  return Add<Wide>(m, rule, c, sum, step, trace);
}

}  // namespace mmadiff
