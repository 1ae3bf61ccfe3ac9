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

  static HWY_INLINE Operand Decode(const LaneFormat& f, Lanes word) { return DecodeLanes(f, word); }

  // Rows give the operand of index k by row.At(k).
  template <class RowA, class RowB>
  HWY_INLINE Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    if (m_.algorithm.addend_joins == AddendJoins::kFirstStep) return Chain(a, b, c, 0, 1);
    const bool apart = m_.algorithm.grouping == Grouping::kEvenOdd;
    Lanes sum = Chain(a, b, Zero(), 0, apart ? 2 : 1);
    if (apart) sum = AddLanes(m_.d, m_.algorithm, addend_, sum, Chain(a, b, Zero(), 1, 2));
    return AddLanes(m_.d, m_.algorithm, addend_, c, sum);
  }

 private:
  template <class RowA, class RowB>
  HWY_INLINE Lanes Chain(const RowA& a, const RowB& b, Lanes c, int first, int stride) const {
    const int count = (m_.k - first + stride - 1) / stride;
    for (int i = 0; i < count; ++i) {
      const bool ascending = m_.algorithm.order == Order::kAscending;
      const int k = first + stride * (ascending ? i : count - 1 - i);
      c = Step(a.At(k), b.At(k), DecodeLanes(addend_, c));
    }
    return c;
  }

  HWY_INLINE Lanes Step(const Operand& a, const Operand& b, const Operand& c) const {
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
