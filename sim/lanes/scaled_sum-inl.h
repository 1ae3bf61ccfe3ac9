// kScaledSum of groups in lanes; the scalar version is sim/scaled_sum.h with NarrowGroupRow.
// Elements are integers; their scales follow them.
#if defined(MMADIFF_SIM_LANES_SCALED_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_SCALED_SUM_INL_H_
#undef MMADIFF_SIM_LANES_SCALED_SUM_INL_H_
#else
#define MMADIFF_SIM_LANES_SCALED_SUM_INL_H_
#endif

#include <algorithm>

#include "sim/lanes/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

class ScaledSumLanes : public NumberElements {
 public:
  // Only scales have exponents.
  static constexpr bool kScalesApart = true;

  explicit ScaledSumLanes(const Model& m)
      : m_(m),
        scales_at_(WholeVectors(m.k)),
        c_(LaneFormatOf(m.c, m.d)),
        d_(LaneFormatOf(m.d, m.d)) {}

  // The signed value in units of the format's least number.
  static MMADIFF_LANES Operand Decode(const LaneFormat& f, Lanes word) {
    const Operand x = DecodeLanes(f, word);
    return {WithSign(UpAny(x.magnitude, x.exponent - All(f.min_exponent)), x.sign), Zero(), Zero()};
  }

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    const int terms = std::min(m_.algorithm.terms, m_.k);
    for (int first = 0; first < m_.k; first += terms) {
      const bool own = first == 0;
      c = Step(a, b, first, std::min(first + terms, m_.k), own ? m_.c : m_.d,
               DecodeLanes(own ? c_ : d_, c));
    }
    return c;
  }

 private:
  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Step(const RowA& a, const RowB& b, int first, int end, const Format& c_format,
                           const Operand& c) const {
    const Algorithm& alg = m_.algorithm;
    Lanes sums[kMaxK], exponents[kMaxK];  // one per group, including its scales
    Lanes align = All(alg.exponent_floor), largest_scale = All(kNarrowZero);
    align = hn::Max(align, AddendExponentLanes(m_, c_format, c));
    int groups = 0;
    for (int k = first; k < end; ++groups) {
      Lanes sum = Zero(), any = Zero();
      const int scale = scales_at_ + k / m_.scale_block;
      for (const int stop = k + alg.group_terms; k < stop; ++k) {
        const Lanes product = SignedProduct(a.Magnitude(k), b.Magnitude(k));
        sum = sum + product;
        any = any | product;
      }
      const Lanes scales = Product(a.Magnitude(scale), b.Magnitude(scale));
      const Lanes x = a.Exponent(scale), y = b.Exponent(scale);
      largest_scale = hn::Max(largest_scale, hn::Max(x, y));
      if (alg.zero_group == ZeroGroup::kIgnored) any = sum;
      exponents[groups] = x + y;  // a zero scale is below everything
      align = Pick(hn::Eq(any, Zero()), align, hn::Max(align, x + y));
      sums[groups] = SignedProduct(sum, scales);
    }
    const Lanes lsb = align - All(alg.fraction_bits);
    const Lanes c_lsb = c.exponent - All(c_format.fraction_bits);
    Lanes total = WithSign(Cut(c.magnitude, lsb - c_lsb), c.sign);
    const Lanes unit = All(m_.a.min_exponent - m_.a.fraction_bits + m_.b.min_exponent -
                           m_.b.fraction_bits - 2 * m_.scale.fraction_bits);
    for (int i = 0; i < groups; ++i) {
      const Lanes sign = hn::BroadcastSignBit(sums[i]);
      const Lanes magnitude = WithSign(sums[i], sign);
      total = total + WithSign(Cut(magnitude, lsb - (exponents[i] + unit)), sign);
    }
    const Lanes sign = hn::BroadcastSignBit(total);
    const Lanes word = RoundSumLanes(m_, sign, WithSign(total, sign), lsb);
    const Mask nan_scale = AtLeast(largest_scale, kLeastNarrowSpecial);
    const Mask special = hn::Or(nan_scale, AtLeast(c.exponent, kLeastNarrowSpecial));
    if (None(special)) return word;
    const Mask nan = hn::Or(nan_scale, IsNan(c));
    return Pick(special, Pick(nan, DefaultNans(m_.d, alg.nan_rule), Infinities(m_.d, c.sign)),
                word);
  }

  // magnitude * 2^-down, cut toward zero.
  static MMADIFF_LANES Lanes Cut(Lanes magnitude, Lanes down) {
    return DownAny(magnitude, down) | UpAny(magnitude, Zero() - down);
  }

  const Model m_;
  const int scales_at_;
  const LaneFormat c_, d_;
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
