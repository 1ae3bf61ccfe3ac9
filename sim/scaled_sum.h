// Block-scaled fused sum (ST-FDPA and GST-FDPA of MMA-Sim 2: mxf8f6f4, mxf4, mxf4nvf4). Products
// are added exactly in groups of consecutive k. Each group is multiplied by its scales of A and B.
// Groups and addend are then aligned, cut and added as in a fused sum.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/fused_sum.h"
#include "sim/round.h"
#include "sim/trace.h"

namespace mmadiff {

// One group: (-1)^negative * magnitude * 2^lsb, and the exponent that it offers for alignment.
struct ScaledGroup {
  bool negative;
  uint64_t magnitude;
  int lsb;
  int exponent;
  bool counts;  // whether it offers its exponent
};

// A scaled step: `terms` products from index `first` of rows a and b. In a row, scales follow the
// m.k elements.
template <class Row>
struct ScaledStep {
  Row a;
  Row b;
  int first, terms;

  MMADIFF_HD constexpr decltype(auto) ScaleA(const Model& m, int k) const {
    return a[m.k + k / m.scale_block];
  }
  MMADIFF_HD constexpr decltype(auto) ScaleB(const Model& m, int k) const {
    return b[m.k + k / m.scale_block];
  }
};

template <class Row>
MMADIFF_HD constexpr bool HasSpecials(const Model& m, const ScaledStep<Row>& s, const Unpacked& c) {
  unsigned kinds = static_cast<unsigned>(c.kind);
  for (int k = s.first; k < s.first + s.terms; ++k) {
    kinds |= static_cast<unsigned>(s.a[k].kind) | static_cast<unsigned>(s.b[k].kind) |
             static_cast<unsigned>(s.ScaleA(m, k).kind) |
             static_cast<unsigned>(s.ScaleB(m, k).kind);
  }
  return kinds != 0;
}

// The elements of a in a step, infinite under an infinite scale.
template <class Row>
struct UnderScales {
  const Model& m;
  const ScaledStep<Row>& s;

  MMADIFF_HD constexpr Unpacked operator[](int i) const {
    const int k = s.first + i;
    Unpacked a = s.a[k];
    const bool infinite =
        s.ScaleA(m, k).kind == Kind::kInfinite || s.ScaleB(m, k).kind == Kind::kInfinite;
    if (infinite && a.kind == Kind::kFinite) a.kind = Kind::kInfinite;
    return a;
  }
};

// A NaN scale gives NaN even for a block of zeros; infinity times a zero scale is NaN, and so is an
// infinite scale times zero.
template <class Row>
MMADIFF_HD_RARE constexpr uint64_t ScaledSpecials(const Model& m, const ScaledStep<Row>& s,
                                                  const Unpacked& c) {
  const UnderScales<Row> scaled = {m, s};
  bool nan = false;
  for (int i = 0, k = s.first; i < s.terms; ++i, ++k) {
    const Unpacked &x = s.ScaleA(m, k), &y = s.ScaleB(m, k);
    const bool infinite_a = scaled[i].kind == Kind::kInfinite;
    const bool zero_a = s.a[k].kind == Kind::kFinite && s.a[k].significand == 0;
    nan |= x.kind == Kind::kNan || y.kind == Kind::kNan || (infinite_a && zero_a);
    nan |= (infinite_a || s.b[k].kind == Kind::kInfinite) && x.significand * y.significand == 0;
  }
  if (nan) return DefaultNan(m.d, m.algorithm.nan_rule);
  return SumSpecials(m, scaled, s.b + s.first, s.terms, c);
}

template <class Row>
MMADIFF_HD constexpr ScaledGroup GroupAt(const Model& m, const ScaledStep<Row>& s, int first) {
  const Algorithm& alg = m.algorithm;
  const int product_bits = m.a.fraction_bits + m.b.fraction_bits;
  // Products are in units of the formats' least product; a single product is in its own unit.
  const bool single = alg.group_terms == 1;
  const int least =
      single ? s.a[first].exponent + s.b[first].exponent : m.a.min_exponent + m.b.min_exponent;
  int64_t sum = 0;
  int largest = kNoFloor, largest_zero = kNoFloor, largest_raw = kNoFloor;
  for (int k = first; k < first + alg.group_terms; ++k) {
    const Unpacked &a = s.a[k], &b = s.b[k];
    const uint64_t product = a.significand * b.significand;
    const int64_t magnitude = static_cast<int64_t>(product << (a.exponent + b.exponent - least));
    sum += a.negative != b.negative ? -magnitude : magnitude;
    const int raw = a.exponent + b.exponent;
    const int e = ProductExponentOf(m, a, b, product);
    int& of_kind = product == 0 ? largest_zero : largest;
    of_kind = e > of_kind ? e : of_kind;
    largest_raw = raw > largest_raw ? raw : largest_raw;
  }
  const Unpacked &x = s.ScaleA(m, first), &y = s.ScaleB(m, first);
  const uint64_t scale = x.significand * y.significand;
  const bool zero_term = largest == kNoFloor || scale == 0;
  const bool raises = alg.zero_term == ZeroTerm::kRaises;
  int products = zero_term ? largest_raw : largest;
  if (raises && largest_zero > products) products = largest_zero;
  const int scales = x.exponent + y.exponent;
  return {sum < 0, Magnitude(sum) * scale,
          least - product_bits + scales - 2 * m.scale.fraction_bits,
          alg.group_exponent == GroupExponent::kScales ? scales : scales + products,
          zero_term ? raises : sum != 0 || alg.zero_group == ZeroGroup::kCounts};
}

MMADIFF_HD constexpr ScaledGroup GroupAt(const Model& m, const ScaledStep<NarrowGroupRow>& s,
                                         int first) {
  int32_t sum = 0, any = 0;
  for (int k = first; k < first + m.algorithm.group_terms; ++k) {
    const int32_t product = s.a.element(k) * s.b.element(k);
    sum += product;
    any |= product;
  }
  const NarrowOperand x = s.a.scale(m, first), y = s.b.scale(m, first);
  const uint64_t scale = static_cast<uint32_t>(x.value * y.value);
  const int lsb = m.a.min_exponent - m.a.fraction_bits + m.b.min_exponent - m.b.fraction_bits;
  const int scales = x.exponent + y.exponent;
  return {sum < 0, Magnitude(sum) * scale, lsb + scales - 2 * m.scale.fraction_bits, scales,
          any != 0 && scale != 0 && (sum != 0 || m.algorithm.zero_group == ZeroGroup::kCounts)};
}

MMADIFF_HD constexpr bool HasNanScales(const Model& m, const ScaledStep<NarrowGroupRow>& s) {
  int largest = 0;
  for (int k = s.first; k < s.first + s.terms; k += m.scale_block) {
    const int x = s.a.scale(m, k).exponent, y = s.b.scale(m, k).exponent;
    const int e = x > y ? x : y;
    largest = e > largest ? e : largest;
  }
  return largest >= kLeastNarrowSpecial;
}

MMADIFF_HD constexpr bool HasSpecials(const Model& m, const ScaledStep<NarrowGroupRow>& s,
                                      const Unpacked& c) {
  return c.kind != Kind::kFinite || HasNanScales(m, s);
}

MMADIFF_HD constexpr uint64_t ScaledSpecials(const Model& m, const ScaledStep<NarrowGroupRow>& s,
                                             const Unpacked& c) {
  const Unpacked* none = nullptr;
  return HasNanScales(m, s) ? DefaultNan(m.d, m.algorithm.nan_rule)
                            : SumSpecials(m, none, none, 0, c);
}

// Models with such rows give only positive zeros.
MMADIFF_HD constexpr bool AllNegativeZeros(const Model&, const ScaledStep<NarrowGroupRow>&,
                                           const Unpacked&) {
  return false;
}

// Whether the addend and every product of elements and scales are -0.
template <class Row>
MMADIFF_HD constexpr bool AllNegativeZeros(const Model& m, const ScaledStep<Row>& s,
                                           const Unpacked& c) {
  bool all = c.negative && c.significand == 0;
  for (int k = s.first; k < s.first + s.terms; ++k) {
    const uint64_t scale = s.ScaleA(m, k).significand * s.ScaleB(m, k).significand;
    all &= s.a[k].negative != s.b[k].negative &&
           (s.a[k].significand * s.b[k].significand == 0 || scale == 0);
  }
  return all;
}

// The exact sum of all groups and the addend, each cut to a multiple of 2^lsb, in units of 2^lsb.
template <class Row, class Trace>
MMADIFF_HD constexpr int64_t AlignedGroups(const Model& m, const ScaledStep<Row>& s,
                                           const ScaledGroup* groups, const Format& c_format,
                                           const Unpacked& c, int lsb, int step, Trace& trace) {
  int64_t sum = AlignedAddend(m, c_format, c, lsb, step, trace);
  for (int i = 0; i < s.terms / m.algorithm.group_terms; ++i) {
    const ScaledGroup& g = groups[i];
    if (g.magnitude == 0) continue;
    const Shifted<uint64_t> term =
        ShiftRight<uint64_t>(g.magnitude, lsb - g.lsb, m.algorithm.align_rounding, g.negative);
    trace(Event{Stage::kAlignedTerm, step, s.first + i * m.algorithm.group_terms, g.negative,
                term.magnitude, lsb, term.inexact});
    const int64_t magnitude = static_cast<int64_t>(term.magnitude);
    sum += g.negative ? -magnitude : magnitude;
  }
  return sum;
}

// One step; c is a decoded word of `c_format`.
template <class Row, class Trace>
MMADIFF_HD constexpr uint64_t ScaledStepResult(const Model& m, const ScaledStep<Row>& s,
                                               const Format& c_format, const Unpacked& c, int step,
                                               Trace& trace) {
  const Algorithm& alg = m.algorithm;
  if (HasSpecials(m, s, c)) {
    const uint64_t word = ScaledSpecials(m, s, c);
    trace(Event{Stage::kSpecial, step, -1, false, word, 0, false});
    return word;
  }
  ScaledGroup groups[kMaxK];
  int align = AddendAlignment(m, c_format, c);
  for (int i = 0; i < s.terms / alg.group_terms; ++i) {
    const int k = s.first + i * alg.group_terms;
    const ScaledGroup g = groups[i] = GroupAt(m, s, k);
    trace(Event{Stage::kProduct, step, k, g.negative, g.magnitude, g.lsb, false});
    align = g.counts && g.exponent > align ? g.exponent : align;
  }
  trace(Event{Stage::kAlignExponent, step, -1, false, 0, align, false});
  const int lsb = align - alg.fraction_bits;
  const int64_t sum = AlignedGroups(m, s, groups, c_format, c, lsb, step, trace);
  const bool minus_zero = alg.zero_sign == ZeroSign::kIeee && AllNegativeZeros(m, s, c);
  return RoundSum(m, sum == 0 ? minus_zero : sum < 0, Magnitude(sum), lsb, step, trace);
}

// a and b hold m.k decoded elements, then the scales; c is a word of m.c.
template <class Row, class Trace>
MMADIFF_HD constexpr uint64_t ScaledSum(const Model& m, Row a, Row b, uint64_t c, Trace& trace) {
  return ChainSteps(m, c, [&](const Step& s, uint64_t addend) {
    const Format& format = s.number == 0 ? m.c : m.d;
    return ScaledStepResult(m, ScaledStep<Row>{a, b, s.first, s.terms}, format,
                            Decode(format, addend), s.number, trace);
  });
}

}  // namespace mmadiff
