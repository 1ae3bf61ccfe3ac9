// kIntegerDot in lanes; the scalar version is sim/integer_dot.h with decoded elements.
#if defined(MMADIFF_SIM_LANES_INTEGER_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_INTEGER_DOT_INL_H_
#undef MMADIFF_SIM_LANES_INTEGER_DOT_INL_H_
#else
#define MMADIFF_SIM_LANES_INTEGER_DOT_INL_H_
#endif

#include <algorithm>

#include "sim/lanes/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

// Sums of products fit a lane. Addends and results have 32 bits, or fewer in wide lanes.
class IntegerDotLanes {
 public:
  struct ElementFormat {
    int64_t mask, sign;
  };
  // Elements are signed integers, stored as magnitudes; there are no exponents.
  static constexpr bool kHasExponents = false;

  explicit IntegerDotLanes(const Model& m) : m_(m) {}

  static ElementFormat FormatOf(const Model&, const Format& f) {
    return {static_cast<int64_t>(LowBits(f.bits)), f.is_signed ? 1ll << SignBit(f) : 0};
  }
  static MMADIFF_LANES Operand Decode(const ElementFormat& f, Lanes word) {
    const Lanes sign = All(f.sign);
    return {((word & All(f.mask)) ^ sign) - sign, Zero(), Zero()};
  }

  template <class RowA, class RowB>
  MMADIFF_LANES Lanes Result(const RowA& a, const RowB& b, Lanes c) const {
    const Algorithm& alg = m_.algorithm;
    const bool exclusive = alg.bit_operation == BitOperation::kXor;
    c = Decode(FormatOf(m_, m_.c), c).magnitude;
    const int terms = std::min(alg.terms, m_.k);
    for (int first = 0; first < m_.k; first += terms) {
      const int end = std::min(first + terms, m_.k);
      Lanes products = Zero();
      if (exclusive) {
        for (int p = first; p < end; ++p) products = products + (a.Magnitude(p) ^ b.Magnitude(p));
      } else {
        for (int p = first; p < end; ++p) {
          products = products + SignedProduct(a.Magnitude(p), b.Magnitude(p));
        }
      }
      const Lanes sum = products + c;
      if (alg.overflow == Overflow::kWrap) {
        c = sum;
      } else if constexpr (kBits > 32) {
        const Lanes most = All(static_cast<int64_t>(LowBits(m_.d.bits - 1)));
        c = hn::Max(hn::Min(sum, most), hn::Not(most));
      } else {
        const Lanes outside = (products ^ sum) & (c ^ sum);  // negative
        const Lanes limit = hn::BroadcastSignBit(c) ^ All(kMaxLane);
        c = Pick(hn::Lt(outside, Zero()), limit, sum);
      }
    }
    return c & All(static_cast<int64_t>(LowBits(m_.d.bits)));
  }

 private:
  const Model m_;
};

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
