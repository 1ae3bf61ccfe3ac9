// kFmaChain in lanes, as sim/fma_chain.h says it.
#if defined(MMADIFF_SIM_LANES_FMA_CHAIN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_FMA_CHAIN_INL_H_
#undef MMADIFF_SIM_LANES_FMA_CHAIN_INL_H_
#else
#define MMADIFF_SIM_LANES_FMA_CHAIN_INL_H_
#endif

#include "sim/lanes/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {

class FmaChainLanes {
 public:
  static constexpr bool kHasExponents = true;

  explicit FmaChainLanes(const Model& m)
      : m_(m), addend_(LaneFormatOf(m.d, 0, m.algorithm.addend_subnormals, m.d)) {}

  static LaneFormat FormatOfA(const Model& m) {
    return LaneFormatOf(m.a, 0, m.algorithm.input_subnormals, m.d);
  }
  static LaneFormat FormatOfB(const Model& m) {
    return LaneFormatOf(m.b, 0, m.algorithm.input_subnormals, m.d);
  }

  static MMADIFF_LANES Operand Decode(const LaneFormat& f, Lanes word) {
    return DecodeLanes(f, word);
  }

  // Rows give the operand of index k by row.At(k).
  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    const Algorithm& alg = m_.algorithm;
    if (alg.addend_joins == AddendJoins::kFirstStep) return Chain(a, b, c);
    Lanes sum = alg.grouping == Grouping::kEvenOdd ? EvenAndOdd(a, b) : Chain(a, b, Zero());
    return AddLanes(m_.d, alg, addend_, c, sum);
  }

 private:
  // Index k of step `i` of `count` over every `stride`-th k from `first` on.
  MMADIFF_LANES int At(int i, int count, int first, int stride) const {
    return first + stride * (m_.algorithm.order == Order::kAscending ? i : count - 1 - i);
  }

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Chain(const RowA& a, const RowB& b, Lanes c) const {
    for (int i = 0; i < m_.k; ++i) c = Step(a, b, At(i, m_.k, 0, 1), c);
    return c;
  }

  // Two chains at a time: each step waits for the one before.
  template <class RowA, class RowB>
  MMADIFF_LANES Lanes EvenAndOdd(const RowA& a, const RowB& b) const {
    const int evens = (m_.k + 1) / 2, odds = m_.k / 2;
    Lanes even = Zero(), odd = Zero();
    for (int i = 0; i < evens; ++i) {
      even = Step(a, b, At(i, evens, 0, 2), even);
      if (i < odds) odd = Step(a, b, At(i, odds, 1, 2), odd);
    }
    return AddLanes(m_.d, m_.algorithm, addend_, even, odd);
  }

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Step(const RowA& a, const RowB& b, int k, Lanes c) const {
    return Step(a.At(k), b.At(k), DecodeLanes(addend_, c));
  }

  MMADIFF_LANES Lanes Step(const Operand& a, const Operand& b, const Operand& c) const {
    const Operand product = {a.magnitude * b.magnitude, a.exponent + b.exponent, a.sign ^ b.sign};
    const Lanes product_bits = All(m_.a.fraction_bits + m_.b.fraction_bits);
    const Lanes sum = RoundTwoLanes(m_.d, m_.algorithm, product, product.exponent - product_bits, c,
                                    c.exponent - All(m_.d.fraction_bits));
    const Lanes largest = hn::Max(product.exponent, c.exponent);
    const Mask special = AtLeast(largest, kLeastNarrowSpecial);
    if (None(special)) return sum;
    return Pick(special, FmaSpecialLanes(m_.d, m_.algorithm.nan_rule, a, b, c), sum);
  }

  const Model m_;
  const LaneFormat addend_;
};

}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
