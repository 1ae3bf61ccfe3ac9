// Zeros and specials of sums in lanes; the scalar versions are in sim/fused_sum.h and
// sim/two_stage_sum.h.
#if defined(MMADIFF_SIM_LANES_SUM_SPECIALS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_SUM_SPECIALS_INL_H_
#undef MMADIFF_SIM_LANES_SUM_SPECIALS_INL_H_
#else
#define MMADIFF_SIM_LANES_SUM_SPECIALS_INL_H_
#endif

#include "sim/lanes/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

// -1 where the addend and the products at positions first .. end - 1 are all -0.
template <class RowA, class RowB>
MMADIFF_LANES Lanes NegativeZeros(const RowA& a, const RowB& b, int first, int end,
                                  const Operand& c) {
  Lanes all = Ones(IsZero(c)) & c.sign;
  for (int p = first; p < end; ++p) {
    const Mask zero = hn::Lt(a.Exponent(p) + b.Exponent(p), All(kNarrowZero / 2));
    all = all & Ones(zero) & (a.Sign(p) ^ b.Sign(p));
  }
  return all;
}

// The words of sums with a special term, as SumSpecials() and TwoStageSpecials(); other lanes keep
// `word`. `largest` is the largest of all exponents. Products are shifted up by NarrowUp(), in A or
// B.
template <class RowA, class RowB>
MMADIFF_LANES Lanes SumSpecialLanes(const Model& m, Lanes largest, const RowA& a, const RowB& b,
                                    int first, int end, const Operand& c, Lanes word) {
  const bool overflows = m.algorithm.product_overflow == ProductOverflow::kInfinity;
  const int product_bits = m.a.fraction_bits + m.b.fraction_bits + NarrowUp(m);
  Lanes nan = Ones(AtLeast(largest, kLeastNarrowNan));
  const Lanes infinite = Ones(IsInfinite(c));
  Lanes minus = infinite & c.sign, plus = hn::AndNot(c.sign, infinite);
  for (int p = first; p < end; ++p) {
    const Lanes exponent = a.Exponent(p) + b.Exponent(p), sign = a.Sign(p) ^ b.Sign(p);
    Lanes special = Ones(AtLeast(exponent, kLeastNarrowSpecial));
    // Infinity times zero.
    nan = nan | (special & Ones(hn::Lt(exponent, All(kNarrowInfinity + kNarrowZero / 2))));
    if (overflows) {
      const Lanes width = BitWidth(Product(a.Magnitude(p), b.Magnitude(p)));
      const Lanes leading = exponent + width - All(1 + product_bits);
      special = special | Ones(hn::Gt(leading, All(MaxExponent(m.d))));
    }
    minus = minus | (special & sign);
    plus = plus | hn::AndNot(sign, special);
  }
  nan = nan | (minus & plus);
  word = Pick(hn::Eq(minus | plus, Zero()), word, Infinities(m.d, minus));
  return Pick(hn::Eq(nan, Zero()), word, DefaultNans(m.d, m.algorithm.nan_rule));
}

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
