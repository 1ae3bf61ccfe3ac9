// Two-stage fused sum (TR-FDPA and GTR-FDPA of MMA-Sim 2: AMD CDNA3). The products of a step are
// aligned, cut and added, all together or even and odd k separately. Their sum and the addend are
// then aligned and rounded down, added, cut again below the leading one, and rounded.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/fused_sum.h"
#include "sim/round.h"
#include "sim/trace.h"

namespace mmadiff {

// sum * 2^lsb. If no term offers an alignment exponent, `exponent` is kNoFloor and the sum is zero.
struct AlignedPart {
  int64_t sum;
  int exponent;  // kNoFloor: none
};

// x * 2^-shift rounded to an integer; a negative shift is exact.
MMADIFF_HD constexpr int64_t ShiftSigned(int64_t x, int shift, Rounding rounding) {
  const uint64_t magnitude =
      ShiftRight<uint64_t>(Magnitude(x), x == 0 ? 1 : shift, rounding, x < 0).magnitude;
  return x < 0 ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

MMADIFF_HD constexpr bool ProductOverflows(const Model& m, const Unpacked& a, const Unpacked& b) {
  const uint64_t product = a.significand * b.significand;
  if (m.algorithm.product_overflow == ProductOverflow::kNone || product == 0) return false;
  const int lsb = a.exponent + b.exponent - m.a.fraction_bits - m.b.fraction_bits;
  return BitWidth(product) - 1 + lsb > MaxExponent(m.d);
}

template <class Row>
MMADIFF_HD constexpr bool HasSpecials(const Model& m, Row a, Row b, int terms, const Unpacked& c) {
  bool special = c.kind != Kind::kFinite;
  for (int i = 0; i < terms; ++i) {
    special |=
        a[i].kind != Kind::kFinite || b[i].kind != Kind::kFinite || ProductOverflows(m, a[i], b[i]);
  }
  return special;
}

// As SumSpecials(), but products that overflow are infinities.
template <class Row>
MMADIFF_HD_RARE constexpr uint64_t TwoStageSpecials(const Model& m, Row a, Row b, int terms,
                                                    const Unpacked& c) {
  Unpacked x[kMaxK] = {};
  for (int i = 0; i < terms; ++i) {
    x[i] = a[i];
    const bool finite = a[i].kind == Kind::kFinite && b[i].kind == Kind::kFinite;
    if (finite && ProductOverflows(m, a[i], b[i])) x[i].kind = Kind::kInfinite;
  }
  return SumSpecials(m, x, b, terms, c);
}

// The step's products at first, first + stride, ..., aligned to their largest exponent and cut.
template <class Row, class Trace>
MMADIFF_HD constexpr AlignedPart AlignedProducts(const Model& m, Row a, Row b, const Step& s,
                                                 int first, int stride, Trace& trace) {
  const Algorithm& alg = m.algorithm;
  const int product_bits = m.a.fraction_bits + m.b.fraction_bits;
  AlignedPart part = {0, kNoFloor};
  for (int i = first; i < s.terms; i += stride) {
    const uint64_t product = a[i].significand * b[i].significand;
    if (product == 0 && alg.zero_term == ZeroTerm::kIgnored) continue;
    const int e = ProductExponentOf(m, a[i], b[i], product);
    part.exponent = e > part.exponent ? e : part.exponent;
  }
  const int lsb = part.exponent - alg.fraction_bits;
  for (int i = first; i < s.terms; i += stride) {
    const uint64_t product = a[i].significand * b[i].significand;
    if (product == 0) continue;
    const bool negative = a[i].negative != b[i].negative;
    const int term_lsb = a[i].exponent + b[i].exponent - product_bits;
    const Shifted<uint64_t> term =
        ShiftRight<uint64_t>(product, lsb - term_lsb, alg.align_rounding, negative);
    trace(Event{Stage::kAlignedTerm, s.number, s.first + i, negative, term.magnitude, lsb,
                term.inexact});
    const int64_t magnitude = static_cast<int64_t>(term.magnitude);
    part.sum += negative ? -magnitude : magnitude;
  }
  return part;
}

// The sum of all products of a step in units of 2^(exponent - fraction_bits).
template <class Row, class Trace>
MMADIFF_HD constexpr AlignedPart FirstStage(const Model& m, Row a, Row b, const Step& s,
                                            Trace& trace) {
  const Algorithm& alg = m.algorithm;
  if (alg.grouping == Grouping::kConsecutive) {
    return AlignedProducts(m, a, b, s, 0, 1, trace);
  }
  // Even and odd refer to k, which counts from the start of the dot product, not of the step.
  const int even = s.first % 2;
  const AlignedPart x = AlignedProducts(m, a, b, s, even, 2, trace);
  const AlignedPart y = AlignedProducts(m, a, b, s, 1 - even, 2, trace);
  const int exponent = x.exponent > y.exponent ? x.exponent : y.exponent;
  return {ShiftSigned(x.sum, exponent - x.exponent, alg.sum_rounding) +
              ShiftSigned(y.sum, exponent - y.exponent, alg.sum_rounding),
          exponent};
}

// The sum of the products and the addend, in units of 2^*lsb, before the last cut.
template <class Trace>
MMADIFF_HD constexpr int64_t SecondStage(const Model& m, const AlignedPart& dot, const Unpacked& c,
                                         int step, int* lsb, Trace& trace) {
  const Algorithm& alg = m.algorithm;
  const bool offers = c.significand != 0 || alg.zero_addend == ZeroAddend::kLeastExponent;
  const int e = offers && c.exponent > dot.exponent ? c.exponent : dot.exponent;
  trace(Event{Stage::kAlignExponent, step, -1, false, 0, e, false});
  const int dot_bits = alg.sum_fraction_bits + 1, c_bits = alg.fraction_bits;
  const int bits = dot_bits > c_bits ? dot_bits : c_bits;
  *lsb = e - bits;
  const int dot_shift = e - dot_bits - (dot.exponent - alg.fraction_bits);
  int64_t sum = ShiftSigned(dot.sum, dot_shift, alg.sum_rounding) * (1ll << (bits - dot_bits));
  const bool dropped = alg.small_addend == SmallAddend::kDropped && c.exponent < e - c_bits - 1;
  if (c.significand == 0 || dropped) return sum;
  const Shifted<uint64_t> term = ShiftRight<uint64_t>(
      c.significand, e - c_bits - (c.exponent - m.d.fraction_bits), alg.sum_rounding, c.negative);
  trace(Event{Stage::kAlignedTerm, step, -1, c.negative, term.magnitude, e - c_bits, term.inexact});
  const int64_t addend = static_cast<int64_t>(term.magnitude << (bits - c_bits));
  return sum + (c.negative ? -addend : addend);
}

// One step; its products begin at a and b. c is a decoded word of the output format.
template <class Row, class Trace>
MMADIFF_HD constexpr uint64_t TwoStageStep(const Model& m, Row a, Row b, const Step& s,
                                           const Unpacked& c, Trace& trace) {
  const Algorithm& alg = m.algorithm;
  const int terms = s.terms, step = s.number;
  if (HasSpecials(m, a, b, terms, c)) {
    const uint64_t word = TwoStageSpecials(m, a, b, terms, c);
    trace(Event{Stage::kSpecial, step, -1, false, word, 0, false});
    return word;
  }
  for (int i = 0; i < terms; ++i) {
    const int lsb = a[i].exponent + b[i].exponent - m.a.fraction_bits - m.b.fraction_bits;
    trace(Event{Stage::kProduct, step, s.first + i, a[i].negative != b[i].negative,
                a[i].significand * b[i].significand, lsb, false});
  }
  const AlignedPart dot = FirstStage(m, a, b, s, trace);
  trace(Event{Stage::kSum, step, -1, dot.sum < 0, Magnitude(dot.sum),
              dot.exponent - alg.fraction_bits, false});
  int lsb = 0;
  int64_t sum = SecondStage(m, dot, c, step, &lsb, trace);
  if (sum != 0) {
    const int leading = BitWidth(Magnitude(sum)) - 1 + lsb;
    const int top = leading > m.d.min_exponent ? leading : m.d.min_exponent;
    const int shift = top - alg.sum_fraction_bits > lsb ? top - alg.sum_fraction_bits - lsb : 0;
    sum = ShiftSigned(sum, shift, alg.sum_rounding);
    lsb += shift;
  }
  const bool negative =
      sum == 0 ? alg.zero_sign == ZeroSign::kIeee && AllNegativeZeros(a, b, terms, c) : sum < 0;
  return RoundSum(m, negative, Magnitude(sum), lsb, step, trace);
}

// a and b hold m.k decoded operands; c is a word of the output format.
template <class Row, class Trace>
MMADIFF_HD constexpr uint64_t TwoStageSum(const Model& m, Row a, Row b, uint64_t c, Trace& trace) {
  return ChainSteps(m, c, [&](const Step& s, uint64_t addend) {
    return TwoStageStep(m, a + s.first, b + s.first, s, Decode(m.d, addend), trace);
  });
}

}  // namespace mmadiff
