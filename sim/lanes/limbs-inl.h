// Exact sums in lanes.
#if defined(MMADIFF_SIM_LANES_LIMBS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_LIMBS_INL_H_
#undef MMADIFF_SIM_LANES_LIMBS_INL_H_
#else
#define MMADIFF_SIM_LANES_LIMBS_INL_H_
#endif

#include "sim/exact_sum.h"
#include "sim/lanes/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

// The sum consists of 32-bit limbs, which start at the lowest unit among the lane's own terms. No
// bit is ever lost: a term that begins within limb i is added there whole, shifted up by at most
// 31, and 63 bits hold the carry and the sum of all terms of a limb (FitsLimbs() of lanes.cc). The
// limb keeps the low 32 bits; the rest is the signed carry. The limbs are in two's complement, so
// only the last carry shows the sign.
constexpr int kLimb = 32;

// Terms, each value * 2^lsb.
struct LimbTerms {
  MMADIFF_LANES LimbTerms() : low(All(-kNarrowZero)), high(All(kNarrowZero)), count(0) {}
  MMADIFF_LANES void Add(Lanes sign, Lanes magnitude, Lanes unit) {
    value[count] = WithSign(magnitude, sign);
    lsb[count++] = unit;
    // The unit of a zero is far below all others and must not become the lowest.
    low = hn::Min(low, Pick(hn::Lt(unit, All(kNarrowZero / 2)), low, unit));
    high = hn::Max(high, unit);
  }

  Lanes value[kMaxK + 1], lsb[kMaxK + 1];
  Lanes low, high;  // least and largest unit
  int count;
};

// The sum rounded to odd: all of it, or at least 30 bits and a sticky bit. Special lanes get
// arbitrary results.
MMADIFF_LANES Sum SumOfLimbs(LimbTerms& terms, Mask special) {
  // The number of limbs in which a term of some lane begins. Zeros do not count.
  const Lanes span = hn::IfThenZeroElse(special, terms.high - terms.low);
  int limbs = 1;
  while (!None(AtLeast(span, kLimb * limbs))) ++limbs;
  Lanes at[kMaxK + 1];
  for (int i = 0; i < terms.count; ++i) {
    const Lanes up = terms.lsb[i] - terms.low;
    at[i] = hn::ShiftRight<5>(up);
    terms.value[i] = Up(terms.value[i], up & All(kLimb - 1));
  }
  Lanes limb[LongSum::kLimbs], sum = Zero();
  for (int j = 0; j < limbs; ++j) {
    for (int i = 0; i < terms.count; ++i) {
      sum = sum + hn::IfThenElseZero(hn::Eq(at[i], All(j)), terms.value[i]);
    }
    limb[j] = sum & All(0xffffffff);
    sum = hn::ShiftRight<kLimb>(sum);
  }
  // Collects limbs from the last carry down until there are 30 bits. Lower bits are cut downward
  // and would add less than a unit, so setting the last bit if any is lost rounds to odd for
  // either sign.
  Lanes lost = Zero(), taken = Zero();
  for (int j = limbs - 1; j >= 0; --j) {
    const Mask more = hn::Eq(hn::ShiftRight<30>(sum), hn::BroadcastSignBit(sum));
    sum = Pick(more, Up(sum, kLimb) | limb[j], sum);
    taken = taken + Ones(more);
    lost = lost | hn::IfThenZeroElse(more, limb[j]);
  }
  sum = sum | (Ones(hn::Ne(lost, Zero())) & All(1));
  const Lanes sign = hn::BroadcastSignBit(sum);
  return {sign, WithSign(sum, sign), terms.low + Up(All(limbs) + taken, 5)};
}

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
