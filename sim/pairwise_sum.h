// Products of a step added in pairs, pairs in pairs, then the addend; every operation rounds to the
// output format (AMD CDNA2: products too; Arm BFDOT: pairs of rounded or of exact products).
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/fma_chain.h"
#include "sim/round.h"
#include "sim/trace.h"

namespace mmadiff {

inline constexpr int kMaxPairwiseTerms = 8;

// The special word of one product or of the sum of two: some operand is not finite.
MMADIFF_HD constexpr uint64_t ProductSpecials(const Model& m, const Unpacked* a, const Unpacked* b,
                                              int products) {
  bool nan = false, infinite[2] = {false, false};
  for (int i = 0; i < products; ++i) {
    if (a[i].kind == Kind::kFinite && b[i].kind == Kind::kFinite) continue;
    const bool zero = (a[i].kind == Kind::kFinite && a[i].significand == 0) ||
                      (b[i].kind == Kind::kFinite && b[i].significand == 0);
    nan |= a[i].kind == Kind::kNan || b[i].kind == Kind::kNan || zero;
    infinite[a[i].negative != b[i].negative] = true;
  }
  nan |= infinite[0] && infinite[1];
  return nan ? DefaultNan(m.d, m.algorithm.nan_rule) : InfinityWord(m.d, infinite[1]);
}

// One rounding of the exact sum of one or two products.
template <class Trace>
MMADIFF_HD constexpr uint64_t RoundedProducts(const Model& m, const Unpacked* a, const Unpacked* b,
                                              int products, int step, int k, Trace& trace) {
  const Algorithm& alg = m.algorithm;
  unsigned kinds = 0;
  bool negative[2] = {false, false};
  uint64_t product[2] = {0, 0};
  int lsb[2] = {0, 0};
  for (int i = 0; i < products; ++i) {
    kinds |= static_cast<unsigned>(a[i].kind) | static_cast<unsigned>(b[i].kind);
    negative[i] = a[i].negative != b[i].negative;
    product[i] = a[i].significand * b[i].significand;
    lsb[i] = a[i].exponent + b[i].exponent - m.a.fraction_bits - m.b.fraction_bits;
  }
  if (kinds != 0) {
    const uint64_t word = ProductSpecials(m, a, b, products);
    trace(Event{Stage::kSpecial, step, k, false, word, 0, false});
    return word;
  }
  for (int i = 0; i < products; ++i) {
    trace(Event{Stage::kProduct, step, k + i, negative[i], product[i], lsb[i], false});
  }
  SignedSum<uint64_t> sum = {negative[0], product[0], lsb[0]};
  if (products == 2) {
    sum = AddToOdd<uint64_t>(negative[0], product[0], lsb[0], negative[1], product[1], lsb[1]);
    if (sum.magnitude == 0 && negative[0] != negative[1]) {
      sum.negative = alg.output_rounding == Rounding::kDown;
    }
  }
  bool inexact = false;
  const uint64_t word =
      RoundPack<uint64_t>(m.d, alg, sum.negative, sum.magnitude, sum.lsb, &inexact);
  trace(Event{Stage::kRounded, step, k, false, word, 0, inexact});
  return word;
}

MMADIFF_HD constexpr uint64_t FlushedWord(const Format& f, Subnormals rule, uint64_t word) {
  const uint64_t sign = word >> SignBit(f) << SignBit(f);
  if (rule == Subnormals::kKeep || Decode(f, word).significand >> f.fraction_bits != 0) return word;
  return rule == Subnormals::kFlush ? sign : 0;
}

// a and b hold m.k decoded operands, m.k a multiple of the terms; c is a word of the output format.
template <class Trace>
MMADIFF_HD constexpr uint64_t PairwiseSum(const Model& m, const Unpacked* a, const Unpacked* b,
                                          uint64_t c, Trace& trace) {
  const Algorithm& alg = m.algorithm;
  const int leaf = alg.product_rounding == ProductRounding::kExact ? 2 : 1;
  for (int first = 0, step = 0; first < m.k; first += alg.terms, ++step) {
    Unpacked x[kMaxPairwiseTerms] = {}, y[kMaxPairwiseTerms] = {};
    for (int i = 0; i < alg.terms; ++i) {
      x[i] = Flushed(m.a, alg.input_subnormals, a[first + i]);
      y[i] = Flushed(m.b, alg.input_subnormals, b[first + i]);
    }
    uint64_t word[kMaxPairwiseTerms] = {};
    int words = alg.terms / leaf;
    for (int i = 0; i < words; ++i) {
      word[i] = RoundedProducts(m, x + leaf * i, y + leaf * i, leaf, step, first + leaf * i, trace);
    }
    // The operands of the tree are results: they are not flushed again.
    Model tree = m;
    tree.algorithm.addend_subnormals = Subnormals::kKeep;
    for (; words > 1; words /= 2) {
      for (int i = 0; i < words / 2; ++i) {
        word[i] = Add<uint64_t>(tree, word[2 * i], word[2 * i + 1], step, trace);
      }
    }
    c = Add<uint64_t>(tree, FlushedWord(m.d, alg.addend_subnormals, c), word[0], step, trace);
  }
  return c;
}

}  // namespace mmadiff
