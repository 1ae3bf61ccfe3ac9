// Truncated fused dot-product-add (T-FDPA of MMA-Sim, arXiv 2511.10909): the products of a step and
// the addend are aligned to one exponent, cut to `fraction_bits` below it, added exactly, and
// rounded once. Each step passes a word of the output format to the next, in ascending k.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/fma_chain.h"
#include "sim/narrow_row.h"
#include "sim/round.h"
#include "sim/steps.h"
#include "sim/trace.h"

namespace mmadiff {

// A row of A or a column of B is any type with decoded operands `row[i]` and the rest of the row
// `row + i`: const Unpacked*, NarrowRow.

// The result if at least one operand is not finite: a NaN operand, Inf x 0 and opposite infinities
// give NaN; otherwise an infinity decides. Products cannot overflow.
template <class RowA, class RowB>
MMADIFF_HD_RARE constexpr uint64_t SumSpecials(const Model& m, RowA a, RowB b, int terms,
                                               const Unpacked& c) {
  bool nan = c.kind == Kind::kNan;
  bool infinite[2] = {false, false};
  if (c.kind == Kind::kInfinite) infinite[c.negative] = true;
  for (int i = 0; i < terms; ++i) {
    const Unpacked &x = a[i], &y = b[i];
    if (x.kind == Kind::kFinite && y.kind == Kind::kFinite) continue;
    const bool zero = (x.kind == Kind::kFinite && x.significand == 0) ||
                      (y.kind == Kind::kFinite && y.significand == 0);
    nan |= x.kind == Kind::kNan || y.kind == Kind::kNan || zero;
    infinite[x.negative != y.negative] = true;
  }
  nan |= infinite[0] && infinite[1];
  return nan ? DefaultNan(m.d, m.algorithm.nan_rule) : InfinityWord(m.d, infinite[1]);
}

// `align` is the alignment exponent; with narrow rows its value also shows whether there is a NaN.
template <class Row>
MMADIFF_HD constexpr uint64_t StepSpecials(const Model& m, int, Row a, Row b, int terms,
                                           const Unpacked& c) {
  return SumSpecials(m, a, b, terms, c);
}
MMADIFF_HD constexpr uint64_t StepSpecials(const Model& m, int align, const NarrowRow& a,
                                           const NarrowRow& b, int terms, const Unpacked& c) {
  bool nan = c.kind == Kind::kNan || align >= kLeastNarrowNan;
  bool infinite[2] = {false, false};
  if (c.kind == Kind::kInfinite) infinite[c.negative] = true;
  for (int i = 0; i < terms && !nan; ++i) {
    const NarrowOperand &x = a.at(i), &y = b.at(i);
    if (x.exponent + y.exponent < kLeastNarrowSpecial) continue;
    nan = x.exponent + y.exponent < kNarrowInfinity + kNarrowZero / 2;  // infinity times zero
    infinite[IsNegative(x) != IsNegative(y)] = true;
  }
  nan |= infinite[0] && infinite[1];
  return nan ? DefaultNan(m.d, m.algorithm.nan_rule) : InfinityWord(m.d, infinite[1]);
}

// Index k of the operand at `position` in step order.
MMADIFF_HD constexpr int GroupedK(const Model& m, int position) {
  if (m.algorithm.grouping == Grouping::kConsecutive) return position;
  const int half = m.k / 2, p = position % half;
  return p / 2 * 4 + p % 2 + position / half * 2;
}

// Exponent of an operand as an f16 number. Formats with smaller normal numbers than f16 keep it.
MMADIFF_HD constexpr int ExponentAsF16(const Format& f, const Unpacked& x) {
  const int own = LeastExponent(f);
  const int least = own < kF16.min_exponent ? own : kF16.min_exponent;
  const int leading = x.exponent + BitWidth(x.significand) - 1 - f.fraction_bits;
  return x.significand == 0 || leading < least ? least : leading;
}

// The exponent that a product offers for alignment.
MMADIFF_HD constexpr int ProductExponentOf(const Model& m, const Unpacked& a, const Unpacked& b,
                                           uint64_t product) {
  const ProductExponent rule = m.algorithm.product_exponent;
  if (rule == ProductExponent::kAsF16) return ExponentAsF16(m.a, a) + ExponentAsF16(m.b, b);
  const int raw = a.exponent + b.exponent;
  if (rule == ProductExponent::kRaw || product == 0) return raw;
  return raw + BitWidth(product) - 1 - m.a.fraction_bits - m.b.fraction_bits;
}

// The exponent that the addend offers for alignment; c must not be zero.
MMADIFF_HD constexpr int AddendExponentOf(const Model& m, const Format& format, const Unpacked& c) {
  if (m.algorithm.addend_exponent == AddendExponent::kOwnFormat) return c.exponent;
  const int leading = c.exponent + BitWidth(c.significand) - 1 - format.fraction_bits;
  return leading < m.d.min_exponent ? m.d.min_exponent : leading;
}

template <class Row>
MMADIFF_HD constexpr bool AllNegativeZeros(Row a, Row b, int terms, const Unpacked& c) {
  bool all = c.negative && c.significand == 0;
  for (int i = 0; i < terms; ++i) {
    const Unpacked &x = a[i], &y = b[i];
    all &= x.negative != y.negative && x.significand * y.significand == 0;
  }
  return all;
}

// magnitude * 2^(up - down) cut to an integer. `up` is a constant of the model. With it, `down` is
// a right shift for every term whose raw exponent is below the alignment exponent; random shift
// directions would cost more than the arithmetic.
MMADIFF_HD constexpr Shifted<uint64_t> CutTerm(uint64_t magnitude, int up, int down,
                                               Rounding rounding, bool negative) {
  if (down < 0) {  // a zero above the alignment exponent, or a normalized subnormal
    return {magnitude == 0 ? 0 : magnitude << (up - down), false};
  }
  const uint64_t wide = magnitude << up;
  const int shift = down < 63 ? down : 63;
  const uint64_t kept = wide >> shift;
  const uint64_t lost = wide ^ kept << shift;
  if (rounding == Rounding::kTowardZero) return {kept, lost != 0};
  const uint64_t half = down > 63 ? ~0ull : 1ull << shift >> 1;
  return {RoundedUp(kept, lost, half, rounding, negative), lost != 0};
}

struct Alignment {
  int exponent;  // the larger of the floor and the largest exponent of a nonzero term
  bool special;  // at least one operand is not finite
};

// The larger of the floor and the exponent that the addend offers.
MMADIFF_HD constexpr int AddendAlignment(const Model& m, const Format& c_format,
                                         const Unpacked& c) {
  const int floor = m.algorithm.exponent_floor;
  if (c.significand == 0) return floor;
  const int e = AddendExponentOf(m, c_format, c);
  return e > floor ? e : floor;
}

MMADIFF_HD constexpr Alignment AlignmentOf(const Model& m, const NarrowRow& a, const NarrowRow& b,
                                           int terms, const Format& c_format, const Unpacked& c) {
  int align = AddendAlignment(m, c_format, c);
  const auto raise = [&](int i) {
    const int e = a.at(i).exponent + b.at(i).exponent;
    align = e > align ? e : align;
  };
  int i = 0;
  MMADIFF_UNROLL(1)
  for (; i + kNarrowTerms <= terms; i += kNarrowTerms) {
    MMADIFF_UNROLL(kNarrowTerms)
    for (int j = 0; j < kNarrowTerms; ++j) raise(i + j);
  }
  MMADIFF_UNROLL(1)
  for (; i < terms; ++i) raise(i);
  return {align, align >= kLeastNarrowSpecial || c.kind != Kind::kFinite};
}

template <class Row>
MMADIFF_HD constexpr Alignment AlignmentOf(const Model& m, Row a, Row b, int terms,
                                           const Format& c_format, const Unpacked& c) {
  const Algorithm& alg = m.algorithm;
  int align = AddendAlignment(m, c_format, c);
  unsigned kinds = static_cast<unsigned>(c.kind);
  for (int i = 0; i < terms; ++i) {
    const Unpacked &x = a[i], &y = b[i];
    const uint64_t product = x.significand * y.significand;
    kinds |= static_cast<unsigned>(x.kind) | static_cast<unsigned>(y.kind);
    const bool counts = product != 0 || alg.zero_term == ZeroTerm::kRaises;
    const int e = counts ? ProductExponentOf(m, x, y, product) : align;
    align = e > align ? e : align;
  }
  return {align, kinds != 0};
}

// The addend, cut to a multiple of 2^lsb, in units of 2^lsb.
template <class Trace>
MMADIFF_HD constexpr int64_t AlignedAddend(const Model& m, const Format& c_format,
                                           const Unpacked& c, int lsb, int step, Trace& trace) {
  if (c.significand == 0) return 0;
  const Shifted<uint64_t> term =
      ShiftRight<uint64_t>(c.significand, lsb - c.exponent + c_format.fraction_bits,
                           m.algorithm.align_rounding, c.negative);
  trace(Event{Stage::kAlignedTerm, step, -1, c.negative, term.magnitude, lsb, term.inexact});
  const int64_t magnitude = static_cast<int64_t>(term.magnitude);
  return c.negative ? -magnitude : magnitude;
}

// The same with narrow rows: the addend's exponent is at most the alignment exponent, so 32 bits
// hold the addend.
MMADIFF_HD constexpr int32_t NarrowAddend(const Format& c_format, const Unpacked& c, int lsb) {
  if (c.significand == 0) return 0;
  const int down = lsb - c.exponent + c_format.fraction_bits;
  const int32_t significand = static_cast<int32_t>(c.significand);
  const int32_t magnitude =
      down <= 0 ? significand << -down : ShiftDown(significand, static_cast<uint32_t>(down));
  return c.negative ? -magnitude : magnitude;
}

// The exact sum of all terms, each cut to a multiple of 2^lsb, in units of 2^lsb.
MMADIFF_HD constexpr int64_t AlignedSum(const Model& m, const NarrowRow& a, const NarrowRow& b,
                                        const Step& s, const Format& c_format, const Unpacked& c,
                                        int lsb, NullTrace&) {
  return NarrowAddend(c_format, c, lsb) + NarrowSum(m, a, b, s.terms, lsb);
}

template <class Row, class Trace>
MMADIFF_HD constexpr int64_t AlignedSum(const Model& m, Row a, Row b, const Step& s,
                                        const Format& c_format, const Unpacked& c, int lsb,
                                        Trace& trace) {
  const Algorithm& alg = m.algorithm;
  const int product_bits = m.a.fraction_bits + m.b.fraction_bits;
  const int up = NarrowUp(m);
  int64_t sum = AlignedAddend(m, c_format, c, lsb, s.number, trace);
  for (int i = 0; i < s.terms; ++i) {
    const Unpacked &x = a[i], &y = b[i];
    const uint64_t product = x.significand * y.significand;
    const bool negative = x.negative != y.negative;
    const int term_lsb = x.exponent + y.exponent - product_bits;
    const Shifted<uint64_t> term =
        CutTerm(product, up, lsb - term_lsb + up, alg.align_rounding, negative);
    if (product != 0) {
      trace(Event{Stage::kAlignedTerm, s.number, GroupedK(m, s.first + i), negative, term.magnitude,
                  lsb, term.inexact});
    }
    const int64_t sign = -static_cast<int64_t>(negative);
    sum += (static_cast<int64_t>(term.magnitude) ^ sign) - sign;
  }
  return sum;
}

// The result word of a step with the sum (-1)^negative * magnitude * 2^lsb. `negative` is also the
// sign of an exact zero.
template <class Trace>
MMADIFF_HD constexpr uint64_t RoundSum(const Model& m, bool negative, uint64_t magnitude, int lsb,
                                       int step, Trace& trace) {
  trace(Event{Stage::kSum, step, -1, negative, magnitude, lsb, false});
  bool inexact = false;
  uint64_t word = RoundPack<uint64_t>(m.d, m.algorithm, negative, magnitude, lsb, &inexact);
  if (m.algorithm.zero_sign == ZeroSign::kPositive && word == 1ull << SignBit(m.d)) word = 0;
  trace(Event{Stage::kRounded, step, -1, false, word, 0, inexact});
  return word;
}

// The same for a step over `a`.
template <class Row, class Trace>
MMADIFF_HD constexpr uint64_t RoundStep(const Model& m, const Row&, bool negative,
                                        uint64_t magnitude, int lsb, int step, Trace& trace) {
  return RoundSum(m, negative, magnitude, lsb, step, trace);
}
// With narrow rows, sums have at most 38 bits. If a sum has more than 32, its last six bits become
// one sticky bit.
MMADIFF_HD constexpr uint64_t RoundStep(const Model& m, const NarrowRow&, bool negative,
                                        uint64_t magnitude, int lsb, int, NullTrace&) {
  uint32_t kept = static_cast<uint32_t>(magnitude);
  if (magnitude >> 32 != 0) {
    kept = static_cast<uint32_t>(magnitude >> 6) | ((kept & 63) != 0);
    lsb += 6;
  }
  bool inexact = false;
  const uint64_t word = RoundPack<uint32_t>(m.d, m.algorithm, negative, kept, lsb, &inexact);
  return m.algorithm.zero_sign == ZeroSign::kPositive && word == 1ull << SignBit(m.d) ? 0 : word;
}

MMADIFF_HD constexpr uint64_t Magnitude(int64_t x) {
  return x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
}

// One step: align, cut and add, round. Its products begin at a and b; c is a decoded word of
// `c_format`.
template <class Row, class Trace>
MMADIFF_HD constexpr uint64_t FusedStep(const Model& m, Row a, Row b, const Step& s,
                                        const Format& c_format, const Unpacked& c, Trace& trace) {
  const Algorithm& alg = m.algorithm;
  const int terms = s.terms, step = s.number;
  const Alignment align = AlignmentOf(m, a, b, terms, c_format, c);
  if (align.special) {
    const uint64_t word = StepSpecials(m, align.exponent, a, b, terms, c);
    trace(Event{Stage::kSpecial, step, -1, false, word, 0, false});
    return word;
  }
  for (int i = 0; kTraces<Trace> && i < terms; ++i) {
    const Unpacked &x = a[i], &y = b[i];
    const int lsb = x.exponent + y.exponent - m.a.fraction_bits - m.b.fraction_bits;
    trace(Event{Stage::kProduct, step, GroupedK(m, s.first + i), x.negative != y.negative,
                x.significand * y.significand, lsb, false});
  }
  trace(Event{Stage::kAlignExponent, step, -1, false, 0, align.exponent, false});
  const int lsb = align.exponent - alg.fraction_bits;
  const int64_t sum = AlignedSum(m, a, b, s, c_format, c, lsb, trace);
  const bool negative =
      sum == 0 ? alg.zero_sign == ZeroSign::kIeee && AllNegativeZeros(a, b, terms, c) : sum < 0;
  return RoundStep(m, a, negative, Magnitude(sum), lsb, step, trace);
}

// a and b hold m.k decoded operands in step order; c is a word of m.c.
template <class Row, class Trace>
MMADIFF_HD constexpr uint64_t FusedSteps(const Model& m, Row a, Row b, uint64_t c, Trace& trace) {
  const bool first_step = m.algorithm.addend_joins == AddendJoins::kFirstStep;
  const bool apart = m.algorithm.addend_joins == AddendJoins::kStepsApart;
  const auto add = [&](uint64_t x, uint64_t y, int step) {
    Model nearest = m;
    nearest.algorithm.output_rounding = Rounding::kNearestEven;
    nearest.algorithm.output_fraction_bits = m.d.fraction_bits;
    return Add<uint64_t>(nearest, Subnormals::kKeep, x, y, step, trace);
  };
  int steps = 0;
  const uint64_t d = ChainSteps(m, first_step ? c : 0, [&](const Step& s, uint64_t addend) {
    Format format = m.d;  // by value: the formats may be constants
    if (s.number == 0 && first_step) format = m.c;
    steps = s.number + 1;
    const uint64_t start = apart ? 0 : addend;
    const uint64_t sum =
        FusedStep(m, a + s.first, b + s.first, s, format, Decode(format, start), trace);
    return apart && s.number > 0 ? add(addend, sum, s.number) : sum;
  });
  return first_step ? d : add(c, d, steps);
}

// a and b hold m.k decoded operands in ascending k.
template <class Row, class Trace>
MMADIFF_HD constexpr uint64_t FusedSum(const Model& m, Row a, Row b, uint64_t c, Trace& trace) {
  if (m.algorithm.grouping == Grouping::kConsecutive) return FusedSteps(m, a, b, c, trace);
  Unpacked grouped_a[kMaxGroupedK] = {}, grouped_b[kMaxGroupedK] = {};
  for (int position = 0; position < m.k; ++position) {
    const int k = GroupedK(m, position);
    grouped_a[position] = a[k];
    grouped_b[position] = b[k];
  }
  return FusedSteps<const Unpacked*>(m, grouped_a, grouped_b, c, trace);
}

}  // namespace mmadiff
