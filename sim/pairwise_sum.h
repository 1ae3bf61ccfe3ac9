// Products of a step are added as a binary tree, then to the addend; every addition rounds to the
// output format (AMD CDNA2: products too; Arm BFDOT: pairs of rounded or of exact products).
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/fma_chain.h"
#include "sim/fused_sum.h"
#include "sim/round.h"
#include "sim/steps.h"
#include "sim/trace.h"

namespace mmadiff {

inline constexpr int kMaxPairwiseTerms = 8;

// The word of one product, or of the sum of two, where at least one operand is not finite.
template <class Row>
MMADIFF_HD_RARE constexpr uint64_t ProductSpecials(const Model& m, Row a, Row b, int products) {
  Unpacked x[2] = {}, y[2] = {};
  for (int i = 0; i < products; ++i) {
    x[i] = Flushed(m.a, m.algorithm.input_subnormals, a[i]);
    y[i] = Flushed(m.b, m.algorithm.input_subnormals, b[i]);
  }
  const Unpacked no_addend = {0, 0, false, Kind::kFinite};
  return SumSpecials(m, x, y, products, no_addend);
}

// The exact product of flushed operands.
template <class Wide>
MMADIFF_HD constexpr SignedSum<Wide> FlushedProduct(const Model& m, const Unpacked& a,
                                                    const Unpacked& b) {
  const Unpacked x = Flushed(m.a, m.algorithm.input_subnormals, a);
  const Unpacked y = Flushed(m.b, m.algorithm.input_subnormals, b);
  return {x.negative != y.negative, static_cast<Wide>(x.significand) * y.significand,
          x.exponent + y.exponent - m.a.fraction_bits - m.b.fraction_bits};
}

// The exact sum of product k, or of products k and k + 1, rounded once.
template <class Wide, class Row, class Trace>
MMADIFF_HD constexpr uint64_t RoundedProducts(const Model& m, Row a, Row b, int products, int step,
                                              int k, Trace& trace) {
  unsigned kinds = static_cast<unsigned>(a[0].kind) | static_cast<unsigned>(b[0].kind);
  if (products == 2) {
    kinds |= static_cast<unsigned>(a[1].kind) | static_cast<unsigned>(b[1].kind);
  }
  if (kinds != 0) {
    const uint64_t word = ProductSpecials(m, a, b, products);
    trace(Event{Stage::kSpecial, step, k, false, word, 0, false});
    return word;
  }
  const SignedSum<Wide> x = FlushedProduct<Wide>(m, a[0], b[0]);
  trace(Event{Stage::kProduct, step, k, x.negative, static_cast<uint64_t>(x.magnitude), x.lsb,
              false});
  if (products == 2) {
    const SignedSum<Wide> y = FlushedProduct<Wide>(m, a[1], b[1]);
    trace(Event{Stage::kProduct, step, k + 1, y.negative, static_cast<uint64_t>(y.magnitude), y.lsb,
                false});
    return RoundTwo<Wide>(m, x, y, step, k, trace);
  }
  bool inexact = false;
  const uint64_t word = RoundPack<Wide>(m.d, m.algorithm, x.negative, x.magnitude, x.lsb, &inexact);
  trace(Event{Stage::kRounded, step, k, false, word, 0, inexact});
  return word;
}

MMADIFF_HD constexpr uint64_t FlushedWord(const Format& f, Subnormals rule, uint64_t word) {
  const uint64_t sign = word >> SignBit(f) << SignBit(f);
  if (rule == Subnormals::kKeep || Decode(f, word).significand >> f.fraction_bits != 0) return word;
  return rule == Subnormals::kFlush ? sign : 0;
}

// a and b hold m.k decoded operands; m.k is a multiple of the terms. c is a word of the output
// format.
template <class Wide, class Row, class Trace>
MMADIFF_HD constexpr uint64_t PairwiseSumIn(const Model& m, Row a, Row b, uint64_t c,
                                            Trace& trace) {
  const Algorithm& alg = m.algorithm;
  const int leaf = alg.product_rounding == ProductRounding::kExact ? 2 : 1;
  return ChainSteps(m, c, [&](const Step& s, uint64_t addend) {
    uint64_t word[kMaxPairwiseTerms] = {};
    int words = s.terms / leaf;
    for (int i = 0; i < words; ++i) {
      const int k = s.first + leaf * i;
      word[i] = RoundedProducts<Wide>(m, a + k, b + k, leaf, s.number, k, trace);
    }
    // The tree adds results, so operands are not flushed again.
    for (; words > 1; words /= 2) {
      for (int i = 0; i < words / 2; ++i) {
        word[i] = Add<Wide>(m, Subnormals::kKeep, word[2 * i], word[2 * i + 1], s.number, trace);
      }
    }
    if (s.number == 0 || alg.addend_flush == AddendFlush::kEveryStep) {
      addend = FlushedWord(m.d, alg.addend_subnormals, addend);
    }
    return Add<Wide>(m, Subnormals::kKeep, addend, word[0], s.number, trace);
  });
}

template <class Row, class Trace>
MMADIFF_HD constexpr uint64_t PairwiseSum(const Model& m, Row a, Row b, uint64_t c, Trace& trace) {
  return m.a.fraction_bits + m.b.fraction_bits > 46
             ? PairwiseSumIn<unsigned __int128>(m, a, b, c, trace)
             : PairwiseSumIn<uint64_t>(m, a, b, c, trace);
}

}  // namespace mmadiff
