// kTwoStageSum in lanes; the scalar version is sim/two_stage_sum.h.
#if defined(MMADIFF_SIM_LANES_TWO_STAGE_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_TWO_STAGE_SUM_INL_H_
#undef MMADIFF_SIM_LANES_TWO_STAGE_SUM_INL_H_
#else
#define MMADIFF_SIM_LANES_TWO_STAGE_SUM_INL_H_
#endif

#include <algorithm>

#include "sim/lanes/lanes-inl.h"
#include "sim/lanes/sum_specials-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

class TwoStageSumLanes : public NumberElements {
 public:
  static constexpr bool kMovesUp = true;  // shifts elements of A up by NarrowUp()

  explicit TwoStageSumLanes(const Model& m) : m_(m), addend_(LaneFormatOf(m.d, m.d)) {}

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    const int terms = std::min(m_.algorithm.terms, m_.k);
    for (int first = 0; first < m_.k; first += terms) {
      c = Step(a, b, first, std::min(first + terms, m_.k), DecodeLanes(addend_, c));
    }
    return c;
  }

 private:
  // sum * 2^(exponent - fraction_bits).
  struct Part {
    Lanes sum, exponent;
  };

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Step(const RowA& a, const RowB& b, int first, int end,
                           const Operand& c) const {
    const Algorithm& alg = m_.algorithm;
    const Part dot = FirstStage(a, b, first, end);
    Lanes lsb = Zero();
    const Lanes sum = SecondStage(dot, c, lsb);
    Lanes sign = hn::BroadcastSignBit(sum), magnitude = WithSign(sum, sign);
    const Lanes leading = BitWidth(magnitude) - All(1) + lsb;
    const Lanes top = hn::Max(leading, All(m_.d.min_exponent));
    const Lanes shift = hn::Max(top - All(alg.sum_fraction_bits) - lsb, Zero());
    magnitude = RoundedShift(alg.sum_rounding, magnitude, shift, sign);
    const Mask zero = hn::Eq(magnitude, Zero());
    sign = hn::IfThenZeroElse(zero, sign);
    if (alg.zero_sign == ZeroSign::kIeee && !None(zero)) {
      sign = Pick(zero, NegativeZeros(a, b, first, end, c), sign);
    }
    const Lanes word = RoundSumLanes(m_, sign, magnitude, lsb + shift);
    const Lanes largest = hn::Max(dot.exponent, c.exponent);
    // The leading one of a product is at most one place above its exponent.
    const bool overflows = alg.product_overflow == ProductOverflow::kInfinity;
    if (None(AtLeast(largest, overflows ? MaxExponent(m_.d) : kLeastNarrowSpecial))) return word;
    return SumSpecialLanes(m_, largest, a, b, first, end, c, word);
  }

  template <class RowA, class RowB>
  MMADIFF_LANES Part FirstStage(const RowA& a, const RowB& b, int first, int end) const {
    if (m_.algorithm.grouping == Grouping::kConsecutive) return Products(a, b, first, end, 1);
    const Part x = Products(a, b, first, end, 2), y = Products(a, b, first + 1, end, 2);
    const Lanes exponent = hn::Max(x.exponent, y.exponent);
    return {Rounded(x.sum, exponent - x.exponent) + Rounded(y.sum, exponent - y.exponent),
            exponent};
  }

  // The products at first, first + stride, ..., aligned to their largest exponent and cut.
  template <class RowA, class RowB>
  MMADIFF_LANES Part Products(const RowA& a, const RowB& b, int first, int end, int stride) const {
    Part part = {Zero(), All(kNoFloor)};
    for (int p = first; p < end; p += stride) {
      part.exponent = hn::Max(part.exponent, a.Exponent(p) + b.Exponent(p));
    }
    const int product_bits = m_.a.fraction_bits + m_.b.fraction_bits;
    const Lanes align = part.exponent + All(std::max(product_bits - m_.algorithm.fraction_bits, 0));
    for (int p = first; p < end; p += stride) {
      const Lanes down = AtMostAll(align - (a.Exponent(p) + b.Exponent(p)));
      const Lanes term = Down(Product(a.Magnitude(p), b.Magnitude(p)), down);
      part.sum = part.sum + WithSign(term, a.Sign(p) ^ b.Sign(p));
    }
    return part;
  }

  // The sum of the products and the addend, before the last cut.
  MMADIFF_LANES Lanes SecondStage(const Part& dot, const Operand& c, Lanes& lsb) const {
    const Algorithm& alg = m_.algorithm;
    const bool zero_offers = alg.zero_addend == ZeroAddend::kLeastExponent;
    const Lanes least = All(zero_offers ? m_.d.min_exponent : kNoFloor);
    const Lanes align = hn::Max(hn::Max(dot.exponent, c.exponent), least);
    const int dot_bits = alg.sum_fraction_bits + 1, c_bits = alg.fraction_bits;
    const int bits = std::max(dot_bits, c_bits);
    lsb = align - All(bits);
    const Lanes dot_down = align - dot.exponent + All(alg.fraction_bits - dot_bits);
    const Lanes c_down = align - c.exponent + All(m_.d.fraction_bits - c_bits);
    Lanes addend = Up(RoundedShift(alg.sum_rounding, c.magnitude, c_down, c.sign), bits - c_bits);
    if (alg.small_addend == SmallAddend::kDropped) {
      addend = hn::IfThenZeroElse(hn::Lt(c.exponent, align - All(c_bits + 1)), addend);
    }
    return Up(Rounded(dot.sum, dot_down), bits - dot_bits) + WithSign(addend, c.sign);
  }

  // x * 2^-down.
  MMADIFF_LANES Lanes Rounded(Lanes x, Lanes down) const {
    const Lanes sign = hn::BroadcastSignBit(x);
    return WithSign(RoundedShift(m_.algorithm.sum_rounding, WithSign(x, sign), down, sign), sign);
  }

  const Model m_;
  const LaneFormat addend_;
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
