// kExactSum in lanes; the scalar version is sim/exact_sum.h.
#if defined(MMADIFF_SIM_LANES_EXACT_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_EXACT_SUM_INL_H_
#undef MMADIFF_SIM_LANES_EXACT_SUM_INL_H_
#else
#define MMADIFF_SIM_LANES_EXACT_SUM_INL_H_
#endif

#include <algorithm>

#include "sim/lanes/lanes-inl.h"
#include "sim/lanes/limbs-inl.h"
#include "sim/lanes/sum_specials-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

class ExactSumLanes : public NumberElements {
 public:
  explicit ExactSumLanes(const Model& m)
      : m_(m), c_(LaneFormatOf(m.c, m.d)), d_(LaneFormatOf(m.d, m.d)) {}

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
    const Lanes product_bits = All(m_.a.fraction_bits + m_.b.fraction_bits);
    LimbTerms terms;
    terms.Add(c.sign, c.magnitude, c.exponent - All(c_format.fraction_bits));
    Lanes largest = c.exponent;
    for (int p = first; p < end; ++p) {
      const Lanes exponent = a.Exponent(p) + b.Exponent(p);
      largest = hn::Max(largest, exponent);
      terms.Add(a.Sign(p) ^ b.Sign(p), Product(a.Magnitude(p), b.Magnitude(p)),
                exponent - product_bits);
    }
    const Mask special = AtLeast(largest, kLeastNarrowSpecial);
    Sum sum = SumOfLimbs(terms, special);
    const Mask zero = hn::Eq(sum.magnitude, Zero());
    if (m_.algorithm.zero_sign == ZeroSign::kIeee && !None(zero)) {
      sum.sign = Pick(zero, NegativeZeros(a, b, first, end, c), sum.sign);
    }
    const Lanes word = RoundSumLanes(m_, sum.sign, sum.magnitude, sum.lsb);
    if (None(special)) return word;
    return SumSpecialLanes(m_, largest, a, b, first, end, c, word);
  }

  const Model m_;
  const LaneFormat c_, d_;
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
