// Integers in lanes: decoding, rounding and packing. Included once for each kind of vectors.
#if defined(MMADIFF_SIM_LANES_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_LANES_INL_H_
#undef MMADIFF_SIM_LANES_LANES_INL_H_
#else
#define MMADIFF_SIM_LANES_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "sim/narrow_row.h"

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Signed = hn::ScalableTag<int32_t>;
using Unsigned = hn::RebindToUnsigned<Signed>;
using Lanes = hn::Vec<Signed>;
using Mask = hn::Mask<Signed>;
constexpr Signed kLane;
constexpr Unsigned kUnsignedLane;

MMADIFF_LANES Lanes All(int64_t x) { return hn::Set(kLane, static_cast<int32_t>(x)); }
MMADIFF_LANES Lanes Zero() { return hn::Zero(kLane); }
MMADIFF_LANES Lanes Pick(Mask which, Lanes yes, Lanes no) { return hn::IfThenElse(which, yes, no); }
MMADIFF_LANES Lanes Ones(Mask which) { return hn::VecFromMask(kLane, which); }  // -1, else 0
// least is not the least of all integers.
MMADIFF_LANES Mask AtLeast(Lanes x, int64_t least) { return hn::Gt(x, All(least - 1)); }
MMADIFF_LANES bool None(Mask which) { return hn::AllFalse(kLane, which); }

// AVX2 and AVX-512 take any shift: more than 31, or a negative one, leaves nothing.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define MMADIFF_ANY_SHIFT 1
#else
#define MMADIFF_ANY_SHIFT 0
#endif

// x * 2^-shift, of bits; the shift is from 0 to 31, or of AtMost31().
MMADIFF_LANES Lanes Down(Lanes x, Lanes shift) {
  return hn::BitCast(kLane, hn::BitCast(kUnsignedLane, x) >> hn::BitCast(kUnsignedLane, shift));
}
MMADIFF_LANES Lanes Down(Lanes x, int shift) {
  return hn::BitCast(kLane, hn::ShiftRightSame(hn::BitCast(kUnsignedLane, x), shift));
}
// x * 2^shift; of lanes that are not finite, whose result nobody takes, the shift may be anything.
MMADIFF_LANES Lanes Up(Lanes x, Lanes shift) {
  return MMADIFF_ANY_SHIFT ? x << shift : x << (shift & All(31));
}
MMADIFF_LANES Lanes Up(Lanes x, int shift) { return hn::ShiftLeftSame(x, shift); }
// A shift for a magnitude below 2^31, of which 31 leaves nothing: what is more, or negative, is as 31.
MMADIFF_LANES Lanes AtMost31(Lanes shift) {
  if (MMADIFF_ANY_SHIFT) return shift;
  const auto least = hn::Min(hn::BitCast(kUnsignedLane, shift), hn::Set(kUnsignedLane, 31u));
  return hn::BitCast(kLane, least);
}
#undef MMADIFF_ANY_SHIFT
MMADIFF_LANES Lanes Between0And31(Lanes shift) { return hn::Min(hn::Max(shift, Zero()), All(31)); }
// (-1)^sign * x; the sign is 0 or -1.
MMADIFF_LANES Lanes WithSign(Lanes x, Lanes sign) { return (x ^ sign) - sign; }

// 0 <= x < 2^31. The exponent of a float that has the leading one of x, and next to it a zero, so
// that no rounding mode carries it up.
MMADIFF_LANES Lanes BitWidth(Lanes x) {
  constexpr hn::RebindToFloat<Signed> floats;
  const auto leading = hn::ConvertTo(floats, hn::AndNot(hn::ShiftRight<1>(x), x));
  const Lanes width = Down(hn::BitCast(kLane, leading), 23) - All(126);
  return hn::Max(width, Zero());
}

// How words of a format are decoded: which are read as zeros, and what becomes of a NaN.
struct LaneFormat {
  NarrowFormat f;
  int32_t least_nan;     // magnitude
  int32_t ignored_mask;  // ignored bits that make a NaN of an infinity
  Subnormals subnormals;
  // A NaN as the output format has it, quieted.
  int32_t nan_sign, nan_bits;
  int payload_up;
};

inline LaneFormat LaneFormatOf(const Format& f, int up, Subnormals subnormals, const Format& d) {
  constexpr uint32_t kNone = std::numeric_limits<int32_t>::max();
  LaneFormat lane = {NarrowFormatOf(f, up), 0, 0, subnormals, 0, 0, 0};
  lane.least_nan = static_cast<int32_t>(f.nonfinite == Nonfinite::kNanAllOnes ? lane.f.least_special
                                        : HasInfinity(f)                      ? lane.f.infinity + 1
                                                                              : kNone);
  if (!HasInfinity(f)) lane.f.infinity = kNone;
  if (f.nonfinite == Nonfinite::kIeeeAllBits) {
    lane.ignored_mask = static_cast<int32_t>(LowBits(f.ignored_bits));
  }
  const uint32_t quiet = 1u << (d.fraction_bits - 1);
  lane.nan_sign = static_cast<int32_t>(1u << SignBit(d));
  lane.nan_bits = static_cast<int32_t>(static_cast<uint32_t>(InfinityWord(d, false)) | quiet);
  // Longer fractions than the output's have no rule that keeps payloads.
  lane.payload_up = std::max(d.fraction_bits - f.fraction_bits, 0);
  return lane;
}

// (-1)^sign * magnitude * 2^(exponent - fraction bits - up); exponents of zeros and of what is not
// finite are those of NarrowOperand. The magnitude of a NaN is its word in the output format.
struct Operand {
  Lanes magnitude, exponent, sign;
};

MMADIFF_LANES Operand DecodeLanes(const LaneFormat& lane, Lanes word) {
  const NarrowFormat& f = lane.f;
  const Lanes bits = Down(word, f.ignored_bits);
  const Lanes magnitude = bits & All(f.magnitude);
  const Lanes fraction = magnitude & All(f.fraction);
  const Mask normal = AtLeast(magnitude, f.least_normal);
  const Mask minus = hn::Ne(bits & All(f.sign), Zero());
  Lanes sign = Ones(minus);
  Lanes significand = fraction + hn::IfThenElseZero(normal, All(f.fraction + 1));
  Lanes exponent = All(f.min_exponent) + Down(magnitude, f.fraction_bits) + Ones(normal);
  if (lane.subnormals != Subnormals::kKeep) {
    significand = hn::IfThenElseZero(normal, significand);
    if (lane.subnormals == Subnormals::kFlushPositive) sign = hn::IfThenElseZero(normal, sign);
  }
  exponent = Pick(hn::Eq(significand, Zero()), All(kNarrowZero), exponent);
  Lanes value = Up(significand, f.up);
  Mask infinite = hn::Eq(magnitude, All(f.infinity)), nan = AtLeast(magnitude, lane.least_nan);
  if (lane.ignored_mask != 0) {
    const Mask more = hn::Ne(word & All(lane.ignored_mask), Zero());
    nan = hn::Or(nan, hn::And(infinite, more));
  }
  if (f.minus_nan != ~0u) {
    const Lanes all = bits & All(f.sign | f.magnitude);
    nan = hn::Or(nan, hn::Eq(all, All(f.minus_nan)));
  }
  exponent = Pick(infinite, All(kNarrowInfinity), exponent);
  exponent = Pick(nan, All(kNarrowNan), exponent);
  if (None(nan)) return {value, exponent, sign};
  const Lanes quiet = (sign & All(lane.nan_sign)) | All(lane.nan_bits);
  return {Pick(nan, quiet | Up(fraction, lane.payload_up), value), exponent, sign};
}

MMADIFF_LANES Mask IsZero(const Operand& x) { return hn::Eq(x.exponent, All(kNarrowZero)); }
MMADIFF_LANES Mask IsInfinite(const Operand& x) { return hn::Eq(x.exponent, All(kNarrowInfinity)); }
MMADIFF_LANES Mask IsNan(const Operand& x) { return hn::Eq(x.exponent, All(kNarrowNan)); }

// magnitude * 2^-shift rounded to an integer; the magnitude is below 2^31.
MMADIFF_LANES Lanes RoundedShift(Rounding rounding, Lanes magnitude, Lanes shift, Lanes sign) {
  const Lanes down = Between0And31(shift - All(1)), up = Between0And31(All(1) - shift);
  const Lanes seen = Down(magnitude, down);
  const Lanes lost = Ones(hn::Ne(Up(seen, down), magnitude));
  const Lanes twice = Up(seen, up), kept = Down(twice, 1), half = twice & All(1);
  switch (rounding) {
    case Rounding::kTowardZero:
      return kept;
    case Rounding::kDown:
      return kept + ((half | lost) & sign & All(1));
    case Rounding::kUp:
      return kept + hn::AndNot(sign, (half | lost) & All(1));
    case Rounding::kToOdd:
      return kept | ((half | lost) & All(1));
    case Rounding::kNearestEven:
      return kept + (half & (kept | lost));
  }
  return kept;
}

// RoundPack() of a magnitude below 2^31. A zero magnitude gives zero of the sign, which is 0 or -1.
MMADIFF_LANES Lanes RoundPackLanes(const Format& f, const Algorithm& alg, Lanes sign,
                                   Lanes magnitude, Lanes lsb) {
  const int digits = alg.output_fraction_bits;
  const Lanes sign_bit = sign & All(1ull << SignBit(f));
  const bool drops_sign = alg.output_subnormals == Subnormals::kFlushPositive;
  const Lanes zero = drops_sign ? Zero() : sign_bit;
  const Lanes least = All(f.min_exponent);
  const Lanes leading = BitWidth(magnitude) - All(1) + lsb;
  const Lanes exponent = hn::Max(leading, least);
  const Lanes shift = exponent - All(digits) - lsb;
  const Lanes kept = RoundedShift(alg.output_rounding, magnitude, shift, sign);
  const Lanes field = Up(exponent - least, f.fraction_bits);
  Lanes word = sign_bit | (field + Up(kept, f.fraction_bits - digits));
  const Lanes carried = exponent + Down(kept, digits + 1);
  const Mask over = hn::Gt(carried, All(MaxExponent(f)));
  const Lanes overflow =
      Pick(hn::Ne(sign, Zero()), All(static_cast<int64_t>(OverflowWord(f, alg, true))),
           All(static_cast<int64_t>(OverflowWord(f, alg, false))));
  word = Pick(over, overflow, word);
  Mask none = hn::Eq(kept, Zero());
  if (alg.output_subnormals != Subnormals::kKeep) {
    Mask tiny = hn::Lt(leading, least);
    if (alg.tininess == Tininess::kAfterRounding) {
      // Not if it were normal with the exponent unbounded.
      const Lanes free =
          RoundedShift(alg.output_rounding, magnitude, leading - All(digits) - lsb, sign);
      const Mask grows = hn::Ne(Down(free, digits + 1), Zero());
      tiny = hn::And(tiny, hn::Not(hn::And(grows, hn::Eq(leading, least - All(1)))));
    }
    none = hn::Or(none, tiny);
  }
  return Pick(hn::Or(none, hn::Eq(magnitude, Zero())), zero, word);
}

// (-1)^sign * magnitude * 2^lsb, to odd.
struct Sum {
  Lanes sign, magnitude, lsb;
};

// AddToOdd() of magnitudes of at most 24 bits: of 30 bits enough are zeros, and 31 hold the sum.
MMADIFF_LANES Sum AddToOddLanes(Lanes x_sign, Lanes x, Lanes x_lsb, Lanes y_sign, Lanes y,
                                Lanes y_lsb) {
  const Lanes x_up = All(30) - BitWidth(x), y_up = All(30) - BitWidth(y);
  const Mask no_x = hn::Eq(x, Zero()), no_y = hn::Eq(y, Zero());
  y_lsb = y_lsb - y_up;
  x_lsb = Pick(no_x, y_lsb, x_lsb - x_up);
  y_lsb = Pick(no_y, x_lsb, y_lsb);
  const Lanes lsb = hn::Max(x_lsb, y_lsb);
  x = Up(x, x_up);
  y = Up(y, y_up);
  const Lanes x_down = AtMost31(lsb - x_lsb), y_down = AtMost31(lsb - y_lsb);
  const Lanes x_kept = Down(x, x_down), y_kept = Down(y, y_down);
  x = WithSign(x_kept | (Ones(hn::Ne(Up(x_kept, x_down), x)) & All(1)), x_sign);
  y = WithSign(y_kept | (Ones(hn::Ne(Up(y_kept, y_down), y)) & All(1)), y_sign);
  const Lanes sum = x + y, sign = hn::ShiftRight<31>(sum);
  return {Pick(hn::Eq(sum, Zero()), x_sign & y_sign, sign), WithSign(sum, sign), lsb};
}

// RoundTwo().
MMADIFF_LANES Lanes RoundTwoLanes(const Format& f, const Algorithm& alg, const Operand& x,
                                  Lanes x_lsb, const Operand& y, Lanes y_lsb) {
  Sum sum = AddToOddLanes(x.sign, x.magnitude, x_lsb, y.sign, y.magnitude, y_lsb);
  if (alg.output_rounding == Rounding::kDown) {
    const Mask cancels = hn::And(hn::Eq(sum.magnitude, Zero()), hn::Ne(x.sign, y.sign));
    sum.sign = Pick(cancels, All(-1), sum.sign);
  }
  return RoundPackLanes(f, alg, sum.sign, sum.magnitude, sum.lsb);
}

// The specials of a * b + c, of which some is not finite. The word of a NaN is its magnitude.
MMADIFF_LANES Lanes FmaSpecialLanes(const Format& f, NanRule rule, const Operand& a,
                                    const Operand& b, const Operand& c) {
  const Lanes sign = a.sign ^ b.sign;
  const Mask infinite = hn::Or(IsInfinite(a), IsInfinite(b));
  const Mask opposite = hn::And(IsInfinite(c), hn::Ne(c.sign, sign));
  const Mask no_factor = hn::Or(IsZero(a), IsZero(b));
  Mask nan = hn::And(infinite, hn::Or(no_factor, opposite));
  nan = hn::Or(nan, hn::Or(IsNan(c), hn::Or(IsNan(a), IsNan(b))));
  Lanes nan_word = All(static_cast<int64_t>(DefaultNan(f, rule)));
  if (rule == NanRule::kPropagate) {
    nan_word = Pick(IsNan(c), c.magnitude, nan_word);
    nan_word = Pick(IsNan(b), b.magnitude, nan_word);
    nan_word = Pick(IsNan(a), a.magnitude, nan_word);
  }
  const Lanes of = Pick(infinite, sign, c.sign);
  const Lanes infinity = All(static_cast<int64_t>(InfinityWord(f, false)));
  return Pick(nan, nan_word, infinity | (of & All(1ull << SignBit(f))));
}

// Add() of words of the output format, read as `in` says.
MMADIFF_LANES Lanes AddLanes(const Format& f, const Algorithm& alg, const LaneFormat& in,
                             Lanes x_word, Lanes y_word) {
  const Operand x = DecodeLanes(in, x_word), y = DecodeLanes(in, y_word);
  const Lanes bits = All(f.fraction_bits);
  const Lanes sum = RoundTwoLanes(f, alg, x, x.exponent - bits, y, y.exponent - bits);
  const Mask special = AtLeast(hn::Max(x.exponent, y.exponent), kLeastNarrowSpecial);
  if (None(special)) return sum;
  const Operand one = {All(1ll << f.fraction_bits), Zero(), Zero()};
  return Pick(special, FmaSpecialLanes(f, alg.nan_rule, x, one, y), sum);
}

}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
