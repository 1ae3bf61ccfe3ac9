// kPairwiseSum in lanes; the scalar version is sim/pairwise_sum.h.
#if defined(MMADIFF_SIM_LANES_PAIRWISE_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_PAIRWISE_SUM_INL_H_
#undef MMADIFF_SIM_LANES_PAIRWISE_SUM_INL_H_
#else
#define MMADIFF_SIM_LANES_PAIRWISE_SUM_INL_H_
#endif

#include "sim/lanes/fma_chain-inl.h"
#include "sim/lanes/lanes-inl.h"
#include "sim/pairwise_sum.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

// For products of at most 24 bits.
class PairwiseSumLanes : public FlushedElements {
 public:
  explicit PairwiseSumLanes(const Model& m) : m_(m), sums_(LaneFormatOf(m.d, m.d)) {}

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    const Algorithm& alg = m_.algorithm;
    const int terms = alg.terms < m_.k ? alg.terms : m_.k;
    const bool exact = alg.product_rounding == ProductRounding::kExact;
    for (int first = 0; first < m_.k; first += terms) {
      Lanes word[kMaxPairwiseTerms];
      int words = exact ? terms / 2 : terms;
      for (int i = 0; i < words; ++i) {
        const int k = exact ? first + 2 * i : first + i;
        word[i] =
            exact ? PairOf(Product(a, b, k), Product(a, b, k + 1)) : Rounded(Product(a, b, k));
      }
      for (; words > 1; words /= 2) {
        for (int i = 0; i < words / 2; ++i) {
          word[i] = AddLanes(m_.d, alg, sums_, word[2 * i], word[2 * i + 1]);
        }
      }
      if (first == 0 || alg.addend_flush == AddendFlush::kEveryStep) c = Flushed(c);
      c = AddLanes(m_.d, alg, sums_, c, word[0]);
    }
    return c;
  }

 private:
  // Its exponent is large if the product is special.
  template <class RowA, class RowB>
  MMADIFF_LANES Operand Product(const RowA& a, const RowB& b, int k) const {
    return {a.Magnitude(k) * b.Magnitude(k), a.Exponent(k) + b.Exponent(k), a.Sign(k) ^ b.Sign(k)};
  }
  MMADIFF_LANES Lanes Lsb(const Operand& product) const {
    return product.exponent - All(m_.a.fraction_bits + m_.b.fraction_bits);
  }

  MMADIFF_LANES Lanes Rounded(const Operand& x) const {
    const Lanes word = RoundPackLanes(m_.d, m_.algorithm, x.sign, x.magnitude, Lsb(x));
    const Mask special = AtLeast(x.exponent, kLeastNarrowSpecial);
    return None(special) ? word : Pick(special, Specials(x, x), word);
  }

  MMADIFF_LANES Lanes PairOf(const Operand& x, const Operand& y) const {
    const Lanes word = RoundTwoLanes(m_.d, m_.algorithm, x, Lsb(x), y, Lsb(y));
    const Mask special = AtLeast(hn::Max(x.exponent, y.exponent), kLeastNarrowSpecial);
    return None(special) ? word : Pick(special, Specials(x, y), word);
  }

  // The special word of the sum of two products.
  MMADIFF_LANES Lanes Specials(const Operand& x, const Operand& y) const {
    const Mask opposite = hn::And(IsInfiniteProduct(x), IsInfiniteProduct(y));
    const Mask nan =
        hn::Or(hn::Or(IsNanProduct(x), IsNanProduct(y)), hn::And(opposite, hn::Ne(x.sign, y.sign)));
    const Lanes sign = Pick(IsInfiniteProduct(x), x.sign, y.sign);
    return Pick(nan, DefaultNans(m_.d, m_.algorithm.nan_rule), Infinities(m_.d, sign));
  }
  static MMADIFF_LANES Mask IsInfiniteProduct(const Operand& x) {
    return AtLeast(x.exponent, kLeastNarrowSpecial);
  }
  // Includes infinity times zero.
  static MMADIFF_LANES Mask IsNanProduct(const Operand& x) {
    const Mask zero = hn::Lt(x.exponent, All(kNarrowInfinity + kNarrowZero / 2));
    return hn::Or(AtLeast(x.exponent, kLeastNarrowNan), hn::And(IsInfiniteProduct(x), zero));
  }

  MMADIFF_LANES Lanes Flushed(Lanes word) const {
    const Subnormals rule = m_.algorithm.addend_subnormals;
    if (rule == Subnormals::kKeep) return word;
    const Lanes sign_bit = All(1ll << SignBit(m_.d));
    const Mask small = hn::Lt(hn::AndNot(sign_bit, word), All(1ll << m_.d.fraction_bits));
    return Pick(small, rule == Subnormals::kFlush ? word & sign_bit : Zero(), word);
  }

  const Model m_;
  const LaneFormat sums_;
};

// Whether the processor's own products and sums give the results. Significands of p and q bits, p +
// q <= 24, have a product of at most 2^24 - 2^p - 2^q + 1. So no tiny product rounds to the least
// normal number, and the result shows whether it must be flushed.
inline bool HasFloatPairs(const Model& m) {
  return HasFloatChain(m) && m.algorithm.product_rounding == ProductRounding::kRounded;
}

// The same for models with HasFloatPairs().
class FloatPairsLanes : public FloatWordLanes {
 public:
  explicit FloatPairsLanes(const Model& m)
      : FloatWordLanes(m), propagates_(Propagates(m.algorithm.nan_rule)) {}

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    const Algorithm& alg = m_.algorithm;
    const int terms = alg.terms < m_.k ? alg.terms : m_.k;
    for (int first = 0; first < m_.k; first += terms) {
      if (first == 0 || alg.addend_flush == AddendFlush::kEveryStep) {
        c = Flushed(alg.addend_subnormals, c);
      }
      c = Added(c, terms == 8   ? SumOf<8>(a, b, first)
                   : terms == 4 ? SumOf<4>(a, b, first)
                   : terms == 2 ? SumOf<2>(a, b, first)
                                : SumOf<1>(a, b, first));
    }
    // A NaN propagates through every addition, so the final NaN is replaced once.
    return propagates_ ? c : Pick(IsNanWord(c), All(nan_), c);
  }

 private:
  template <int kTerms, class RowA, class RowB>
  MMADIFF_LANES Lanes SumOf(const RowA& a, const RowB& b, int first) const {
    if constexpr (kTerms == 1) {
      return Product(a.Magnitude(first), b.Magnitude(first));
    } else {
      return Added(SumOf<kTerms / 2>(a, b, first), SumOf<kTerms / 2>(a, b, first + kTerms / 2));
    }
  }
  MMADIFF_LANES Lanes Product(Lanes a, Lanes b) const {
    const Lanes word = Output(AsFloats(a) * AsFloats(b));
    return propagates_ ? Pick(IsNanWord(word), All(nan_), word) : word;
  }
  MMADIFF_LANES Lanes Added(Lanes x, Lanes y) const {
    const Lanes word = Output(AsFloats(x) + AsFloats(y));
    return propagates_ ? Pick(IsNanWord(word), NanOf(x, One(), y), word) : word;
  }
  MMADIFF_LANES Lanes Output(Floats result) const {
    return Flushed(m_.algorithm.output_subnormals, hn::BitCast(kLane, result));
  }

  const bool propagates_;
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
