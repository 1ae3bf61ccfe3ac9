// Truncated fused dot-product-add (T-FDPA of MMA-Sim, arXiv 2511.10909): the products of a step and
// the addend are aligned to one exponent, cut to `fraction_bits` below it, added exactly, and rounded
// once. Steps are chained in ascending k through words of the output format.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/round.h"
#include "sim/trace.h"

namespace mmadiff {

// Specials before the arithmetic: NaN operand, Inf x 0 and opposite infinities are NaN, otherwise an
// infinity decides. Products cannot overflow. Returns false when every operand is finite.
MMADIFF_HD constexpr bool SumSpecials(const Model& m, const Unpacked* a, const Unpacked* b,
                                      int terms, const Unpacked& c, uint64_t* word) {
  bool nan = c.kind == Kind::kNan;
  bool infinite[2] = {false, false};
  if (c.kind == Kind::kInfinite) infinite[c.negative] = true;
  for (int i = 0; i < terms; ++i) {
    if (a[i].kind == Kind::kFinite && b[i].kind == Kind::kFinite) continue;
    const bool zero = (a[i].kind == Kind::kFinite && a[i].significand == 0) ||
                      (b[i].kind == Kind::kFinite && b[i].significand == 0);
    nan |= a[i].kind == Kind::kNan || b[i].kind == Kind::kNan || zero;
    infinite[a[i].negative != b[i].negative] = true;
  }
  if (!nan && !infinite[0] && !infinite[1]) return false;
  nan |= infinite[0] && infinite[1];
  *word = nan ? DefaultNan(m.d, m.algorithm.nan_rule) : InfinityWord(m.d, infinite[1]);
  return true;
}

// Exponent that a product offers for the alignment.
MMADIFF_HD constexpr int ProductExponentOf(const Algorithm& alg, const Unpacked& a,
                                           const Unpacked& b, uint64_t product, int fraction_bits) {
  const int raw = a.exponent + b.exponent;
  if (alg.product_exponent == ProductExponent::kRaw || product == 0) return raw;
  return raw + BitWidth(product) - 1 - fraction_bits;
}

// Exponent that the addend offers for the alignment; c is not zero.
MMADIFF_HD constexpr int AddendExponentOf(const Model& m, const Format& format, const Unpacked& c) {
  if (m.algorithm.addend_exponent == AddendExponent::kOwnFormat) return c.exponent;
  const int leading = c.exponent + BitWidth(c.significand) - 1 - format.fraction_bits;
  return leading < m.d.min_exponent ? m.d.min_exponent : leading;
}

// One step over `terms` products. c is a decoded word of `c_format`.
template <class Trace>
MMADIFF_HD constexpr uint64_t FusedStep(const Model& m, const Unpacked* a, const Unpacked* b,
                                        int terms, const Format& c_format, Unpacked c, int step,
                                        int first_k, Trace& trace) {
  const Algorithm& alg = m.algorithm;
  uint64_t word = 0;
  if (SumSpecials(m, a, b, terms, c, &word)) {
    trace(Event{Stage::kSpecial, step, -1, false, word, 0, false});
    return word;
  }
  const int product_fraction_bits = m.a.fraction_bits + m.b.fraction_bits;
  int align = alg.exponent_floor;
  bool all_negative_zero = c.negative && c.significand == 0;
  if (c.significand != 0) {
    const int e = AddendExponentOf(m, c_format, c);
    if (e > align) align = e;
  }
  bool any = c.significand != 0;
  for (int i = 0; i < terms; ++i) {
    const uint64_t product = a[i].significand * b[i].significand;
    all_negative_zero &= product == 0 && a[i].negative != b[i].negative;
    any |= product != 0;
    trace(Event{Stage::kProduct, step, first_k + i, a[i].negative != b[i].negative, product,
                a[i].exponent + b[i].exponent - product_fraction_bits, false});
    if (product == 0 && alg.zero_term == ZeroTerm::kIgnored) continue;
    const int e = ProductExponentOf(alg, a[i], b[i], product, product_fraction_bits);
    if (e > align) align = e;
  }
  int64_t sum = 0;
  const int lsb = align - alg.fraction_bits;
  trace(Event{Stage::kAlignExponent, step, -1, false, 0, align, false});
  if (any) {
    for (int i = -1; i < terms; ++i) {
      const bool negative = i < 0 ? c.negative : a[i].negative != b[i].negative;
      const uint64_t magnitude = i < 0 ? c.significand : a[i].significand * b[i].significand;
      const int term_lsb = i < 0 ? c.exponent - c_format.fraction_bits
                                 : a[i].exponent + b[i].exponent - product_fraction_bits;
      if (magnitude == 0) continue;
      const Shifted<uint64_t> term =
          ShiftRight<uint64_t>(magnitude, lsb - term_lsb, alg.align_rounding, negative);
      trace(Event{Stage::kAlignedTerm, step, i < 0 ? -1 : first_k + i, negative, term.magnitude,
                  lsb, term.inexact});
      sum += negative ? -static_cast<int64_t>(term.magnitude) : static_cast<int64_t>(term.magnitude);
    }
  }
  bool negative = sum < 0;
  if (sum == 0 && alg.zero_sign == ZeroSign::kIeee) negative = all_negative_zero;
  const uint64_t magnitude = sum < 0 ? -static_cast<uint64_t>(sum) : static_cast<uint64_t>(sum);
  trace(Event{Stage::kSum, step, -1, negative, magnitude, lsb, false});
  bool inexact = false;
  word = RoundPack<uint64_t>(m.d, alg, negative, magnitude, lsb, &inexact);
  if (alg.zero_sign == ZeroSign::kPositive && word == 1ull << SignBit(m.d)) word = 0;
  trace(Event{Stage::kRounded, step, -1, false, word, 0, inexact});
  return word;
}

// a and b hold m.k decoded operands; c is a word of m.c.
template <class Trace>
MMADIFF_HD constexpr uint64_t FusedSum(const Model& m, const Unpacked* a, const Unpacked* b,
                                       uint64_t c, Trace& trace) {
  const int terms = m.algorithm.terms < m.k ? m.algorithm.terms : m.k;
  for (int first = 0, step = 0; first < m.k; first += terms, ++step) {
    const Format& format = step == 0 ? m.c : m.d;
    c = FusedStep(m, a + first, b + first, first + terms > m.k ? m.k - first : terms, format,
                  Decode(format, c), step, first, trace);
  }
  return c;
}

}  // namespace mmadiff
