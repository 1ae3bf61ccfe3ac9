// Integers in lanes: decoding, rounding and packing. Included once for each kind of vectors. Lanes
// have 64 bits if MMADIFF_WIDE_LANES is defined, otherwise 32.
#if defined(MMADIFF_SIM_LANES_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MMADIFF_SIM_LANES_LANES_INL_H_
#undef MMADIFF_SIM_LANES_LANES_INL_H_
#else
#define MMADIFF_SIM_LANES_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cfenv>
#include <limits>

#include "sim/narrow_row.h"

#undef MMADIFF_WIDTH
#if defined(MMADIFF_WIDE_LANES)
#define MMADIFF_WIDTH wide
#else
#define MMADIFF_WIDTH narrow
#endif

HWY_BEFORE_NAMESPACE();
namespace mmadiff {
namespace HWY_NAMESPACE {
namespace MMADIFF_WIDTH {

namespace hn = hwy::HWY_NAMESPACE;

#if defined(MMADIFF_WIDE_LANES)
using Lane = int64_t;
#else
using Lane = int32_t;
#endif
constexpr int kBits = 8 * sizeof(Lane);
constexpr Lane kMaxLane = std::numeric_limits<Lane>::max();
using Signed = hn::ScalableTag<Lane>;
using Unsigned = hn::RebindToUnsigned<Signed>;
using Lanes = hn::Vec<Signed>;
using Mask = hn::Mask<Signed>;
constexpr Signed kLane;
constexpr Unsigned kUnsignedLane;

MMADIFF_LANES Lanes All(int64_t x) { return hn::Set(kLane, static_cast<Lane>(x)); }
MMADIFF_LANES Lanes Zero() { return hn::Zero(kLane); }
MMADIFF_LANES Lanes Pick(Mask which, Lanes yes, Lanes no) { return hn::IfThenElse(which, yes, no); }
MMADIFF_LANES Lanes Ones(Mask which) { return hn::VecFromMask(kLane, which); }  // -1, else 0
// `least` must not be the smallest integer of a lane.
MMADIFF_LANES Mask AtLeast(Lanes x, int64_t least) { return hn::Gt(x, All(least - 1)); }
MMADIFF_LANES bool None(Mask which) { return hn::AllFalse(kLane, which); }

// AVX2 and AVX-512 accept any shift: kBits or more, or a negative shift, gives 0.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define MMADIFF_ANY_SHIFT 1
#else
#define MMADIFF_ANY_SHIFT 0
#endif

// Logical x >> shift; the shift is from 0 to kBits - 1, or from AtMostAll().
MMADIFF_LANES Lanes Down(Lanes x, Lanes shift) {
  return hn::BitCast(kLane, hn::BitCast(kUnsignedLane, x) >> hn::BitCast(kUnsignedLane, shift));
}
MMADIFF_LANES Lanes Down(Lanes x, int shift) {
  return hn::BitCast(kLane, hn::ShiftRightSame(hn::BitCast(kUnsignedLane, x), shift));
}
// x << shift. In lanes that are not finite, whose results are not used, the shift may have any
// value.
MMADIFF_LANES Lanes Up(Lanes x, Lanes shift) {
  return MMADIFF_ANY_SHIFT ? x << shift : x << (shift & All(kBits - 1));
}
MMADIFF_LANES Lanes Up(Lanes x, int shift) { return hn::ShiftLeftSame(x, shift); }
// A shift for magnitudes below 2^(kBits - 1), where kBits - 1 gives 0: larger and negative shifts
// count as kBits - 1.
MMADIFF_LANES Lanes AtMostAll(Lanes shift) {
  if (MMADIFF_ANY_SHIFT) return shift;
  const auto least = hn::Min(hn::BitCast(kUnsignedLane, shift),
                             hn::Set(kUnsignedLane, static_cast<hn::TFromD<Unsigned>>(kBits - 1)));
  return hn::BitCast(kLane, least);
}
// For DownAny() and UpAny(), logical x >> shift and x << shift: negative and large shifts give 0.
MMADIFF_LANES Lanes InRange(Lanes shift, Lanes shifted) {
  if (MMADIFF_ANY_SHIFT) return shifted;
  return hn::IfThenElseZero(hn::And(AtLeast(shift, 0), hn::Lt(shift, All(kBits))), shifted);
}
MMADIFF_LANES Lanes DownAny(Lanes x, Lanes shift) {
  return InRange(shift, Down(x, MMADIFF_ANY_SHIFT ? shift : shift & All(kBits - 1)));
}
MMADIFF_LANES Lanes UpAny(Lanes x, Lanes shift) { return InRange(shift, Up(x, shift)); }
MMADIFF_LANES Lanes Between0AndAll(Lanes shift) {
  return hn::Min(hn::Max(shift, Zero()), All(kBits - 1));
}
// Logical x >> shift; a negative shift, at least 1 - kBits, shifts up.
MMADIFF_LANES Lanes DownOrUp(Lanes x, Lanes shift) {
  const Lanes up = Zero() - shift;
  if (MMADIFF_ANY_SHIFT) return Down(x, shift) | Up(x, up);
  return Down(Up(x, Between0AndAll(up)), Between0AndAll(shift));
}
#undef MMADIFF_ANY_SHIFT
// (-1)^sign * x; the sign is 0 or -1.
MMADIFF_LANES Lanes WithSign(Lanes x, Lanes sign) { return (x ^ sign) - sign; }

// 0 <= x <= kMaxLane.
MMADIFF_LANES Lanes BitWidth(Lanes x) {
#if HWY_TARGET == HWY_AVX3
  // Highway 1.0.3 cannot count leading zeros; AVX-512CD can.
#if defined(MMADIFF_WIDE_LANES)
  asm("vplzcntq %0, %0" : "+v"(x.raw));
#else
  asm("vplzcntd %0, %0" : "+v"(x.raw));
#endif
  return All(kBits) - x;
#else
  // The exponent of a float with the leading one of x followed by a zero, so that no rounding mode
  // carries it up.
  constexpr hn::RebindToFloat<Signed> floats;
  using Limits = std::numeric_limits<hn::TFromD<decltype(floats)>>;
  const auto leading = hn::ConvertTo(floats, hn::AndNot(hn::ShiftRight<1>(x), x));
  const Lanes bits = hn::BitCast(kLane, leading) & All(kMaxLane);  // clears the sign of a -0
  const Lanes width = Down(bits, Limits::digits - 1) - All(Limits::max_exponent - 2);
  return hn::Max(width, Zero());
#endif
}

// In wide lanes, the product of the low halves as integers of type Half; otherwise of whole lanes.
template <class Half>
MMADIFF_LANES Lanes ProductOfHalves(Lanes x, Lanes y) {
#if defined(MMADIFF_WIDE_LANES)
  constexpr hn::Repartition<Half, Signed> kHalves;
  return hn::BitCast(kLane, hn::MulEven(hn::BitCast(kHalves, x), hn::BitCast(kHalves, y)));
#else
  return x * y;
#endif
}
// x * y, which must be below 2^kBits; x and y are below 2^32.
MMADIFF_LANES Lanes Product(Lanes x, Lanes y) { return ProductOfHalves<uint32_t>(x, y); }
// The signed product; x and y are from -2^31 to 2^31 - 1.
MMADIFF_LANES Lanes SignedProduct(Lanes x, Lanes y) { return ProductOfHalves<int32_t>(x, y); }

constexpr hn::RebindToFloat<Signed> kFloat;
using Float = hn::TFromD<decltype(kFloat)>;
using Floats = hn::Vec<decltype(kFloat)>;
constexpr int kFloatFraction = std::numeric_limits<Float>::digits - 1;
constexpr int kBias = std::numeric_limits<Float>::max_exponent - 1;

MMADIFF_LANES Floats AsFloats(Lanes bits) { return hn::BitCast(kFloat, bits); }
// 2^(exponent + more), which must be a normal float. The special exponents of zeros, infinities and
// NaNs are multiples of 2^20, so they count as 0.
MMADIFF_LANES Floats PowerOfTwo(Lanes exponent, int more) {
  return AsFloats(Up(exponent + All(kBias + more), kFloatFraction));
}
// While it exists, floats in this thread are rounded as in the model, and subnormals are kept. The
// destructor restores the caller's rounding, flags and traps.
class FloatRounding {
 public:
#if HWY_ARCH_X86
  // A plan has one of these for each range of k, and <cfenv> is slow: it also sets the x87.
  explicit FloatRounding(Rounding rounding) : before_(_mm_getcsr()) {
    _mm_setcsr(_MM_MASK_MASK | static_cast<unsigned>(ModeOf(rounding)) << 3);
  }
  ~FloatRounding() { _mm_setcsr(before_); }
#else
  explicit FloatRounding(Rounding rounding) {
    std::feholdexcept(&before_);
    std::fesetround(ModeOf(rounding));
  }
  ~FloatRounding() { std::fesetenv(&before_); }
#endif
  FloatRounding(const FloatRounding&) = delete;
  FloatRounding& operator=(const FloatRounding&) = delete;

 private:
  static int ModeOf(Rounding rounding) {
    switch (rounding) {
      case Rounding::kTowardZero:
        return FE_TOWARDZERO;
      case Rounding::kDown:
        return FE_DOWNWARD;
      case Rounding::kUp:
        return FE_UPWARD;
      case Rounding::kNearestEven:
      case Rounding::kNearestAway:  // no processor has it
      case Rounding::kToOdd:
        break;
    }
    return FE_TONEAREST;
  }
#if HWY_ARCH_X86
  const unsigned before_;
#else
  std::fenv_t before_;
#endif
};

#if !defined(MMADIFF_WIDE_LANES)
// x rounded toward zero; arbitrary unless |x| < 2^31.
MMADIFF_LANES Lanes Truncated(Floats x) {
#if HWY_TARGET == HWY_AVX3
  return Lanes{_mm512_cvttps_epi32(x.raw)};
#elif HWY_TARGET == HWY_AVX2
  return Lanes{_mm256_cvttps_epi32(x.raw)};
#elif HWY_TARGET == HWY_SSE4
  return Lanes{_mm_cvttps_epi32(x.raw)};
#else
  return hn::ConvertTo(kLane, x);
#endif
}
#endif

// `positions` rounded up to whole vectors.
inline int WholeVectors(int positions) {
  const int lanes = static_cast<int>(hn::Lanes(kLane));
  return (positions + lanes - 1) / lanes * lanes;
}

// How words of a format are decoded, including flushing and NaNs.
struct LaneFormat {
  int fraction_bits, ignored_bits, min_exponent;
  int up = 0;  // left shift of values
  // Masks and magnitudes of a word without its ignored bits; kMaxLane: the format has no such
  // magnitude.
  int sign_bit;
  Lane signs, magnitude, fraction, hidden, least_normal, least_special, infinity;
  Lane least_field;     // least exponent field; subnormals count as having that of the least normal
  bool nan_minus_zero;  // NaN replaces -0
  Lane ignored_mask;    // ignored bits that turn an infinity into a NaN
  Subnormals subnormals;
  // A NaN in the output format, quieted.
  Lane nan_sign, nan_bits;
  int payload_up;
};

inline LaneFormat LaneFormatOf(const Format& f, const Format& d,
                               Subnormals subnormals = Subnormals::kKeep) {
  const int width = f.fraction_bits + f.exponent_bits;
  LaneFormat lane = {};
  lane.fraction_bits = f.fraction_bits;
  lane.ignored_bits = f.ignored_bits;
  lane.min_exponent = f.min_exponent;
  lane.sign_bit = f.is_signed ? width : 0;
  lane.signs = f.is_signed ? 1 : 0;
  lane.magnitude = static_cast<Lane>(LowBits(width));
  lane.fraction = static_cast<Lane>(LowBits(f.fraction_bits));
  lane.hidden = lane.fraction + 1;
  lane.least_normal = f.has_zero ? lane.hidden : 0;
  lane.least_field = f.has_zero ? 1 : 0;
  lane.infinity =
      HasInfinity(f) ? static_cast<Lane>(InfinityWord(f, false) >> f.ignored_bits) : kMaxLane;
  lane.least_special = f.nonfinite == Nonfinite::kNanAllOnes ? lane.magnitude : lane.infinity;
  lane.nan_minus_zero = f.nonfinite == Nonfinite::kNanMinusZero;
  if (f.nonfinite == Nonfinite::kIeeeAllBits) {
    lane.ignored_mask = static_cast<Lane>(LowBits(f.ignored_bits));
  }
  lane.subnormals = subnormals;
  lane.nan_sign = static_cast<Lane>(1ull << SignBit(d));
  lane.nan_bits = static_cast<Lane>(InfinityWord(d, false) | 1ull << (d.fraction_bits - 1));
  // If the fraction is longer than the output's, no rule keeps payloads.
  lane.payload_up = std::max(d.fraction_bits - f.fraction_bits, 0);
  return lane;
}

// (-1)^sign * magnitude * 2^(exponent - fraction bits - up). Zeros, infinities and NaNs have the
// special exponents of NarrowOperand. The magnitude of a NaN is its word in the output format.
struct Operand {
  Lanes magnitude, exponent, sign;
};

// `x` with infinities and NaNs in `special` lanes. `sign` is the sign of `word`, which a NaN that
// replaces -0 keeps.
MMADIFF_LANES Operand WithSpecials(const LaneFormat& f, Operand x, Mask special, Lanes word,
                                   Lanes sign) {
  const Lanes magnitude = Down(word, f.ignored_bits) & All(f.magnitude);
  Mask infinite = hn::Eq(magnitude, All(f.infinity));
  if (f.ignored_mask != 0) {
    infinite = hn::And(infinite, hn::Eq(word & All(f.ignored_mask), Zero()));
  }
  const Mask nan = hn::AndNot(infinite, special);
  x.exponent = Pick(special, Pick(infinite, All(kNarrowInfinity), All(kNarrowNan)), x.exponent);
  const Lanes quiet = (sign & All(f.nan_sign)) | All(f.nan_bits);
  const Lanes payload = Up(magnitude & All(f.fraction), f.payload_up);
  x.magnitude = Pick(nan, quiet | payload, x.magnitude);
  return x;
}

MMADIFF_LANES Operand DecodeLanes(const LaneFormat& f, Lanes word) {
  const Lanes bits = Down(word, f.ignored_bits);
  const Lanes magnitude = bits & All(f.magnitude);
  const Lanes field = hn::Max(Down(magnitude, f.fraction_bits), All(f.least_field));
  const Lanes sign = Zero() - (Down(bits, f.sign_bit) & All(f.signs));
  Operand x = {magnitude - Up(field, f.fraction_bits) + All(f.hidden),
               field + All(f.min_exponent - 1), sign};
  if (f.subnormals != Subnormals::kKeep) {
    const Mask normal = AtLeast(magnitude, f.least_normal);
    x.magnitude = hn::IfThenElseZero(normal, x.magnitude);
    if (f.subnormals == Subnormals::kFlushPositive) x.sign = hn::IfThenElseZero(normal, sign);
  }
  x.exponent = Pick(hn::Eq(x.magnitude, Zero()), All(kNarrowZero), x.exponent);
  x.magnitude = Up(x.magnitude, f.up);
  Mask special = AtLeast(magnitude, f.least_special);
  if (f.nan_minus_zero) special = hn::And(hn::Eq(magnitude, Zero()), hn::Ne(sign, Zero()));
  return None(special) ? x : WithSpecials(f, x, special, word, sign);
}

// How most families read elements of A and B: the decoding constants, and the operand of a word.
struct NumberElements {
  static constexpr bool kHasExponents = true;
  static LaneFormat FormatOf(const Model& m, const Format& f) { return LaneFormatOf(f, m.d); }
  static MMADIFF_LANES Operand Decode(const LaneFormat& f, Lanes word) {
    return DecodeLanes(f, word);
  }
};
// The same for families with input_subnormals.
struct FlushedElements : NumberElements {
  static LaneFormat FormatOf(const Model& m, const Format& f) {
    return LaneFormatOf(f, m.d, m.algorithm.input_subnormals);
  }
};

MMADIFF_LANES Mask IsZero(const Operand& x) { return hn::Eq(x.exponent, All(kNarrowZero)); }
MMADIFF_LANES Mask IsInfinite(const Operand& x) { return hn::Eq(x.exponent, All(kNarrowInfinity)); }
MMADIFF_LANES Mask IsNan(const Operand& x) { return hn::Eq(x.exponent, All(kNarrowNan)); }

// Infinities with these signs, each 0 or -1; and the NaN of an invalid operation.
MMADIFF_LANES Lanes Infinities(const Format& f, Lanes sign) {
  return All(InfinityWord(f, false)) | (sign & All(1ull << SignBit(f)));
}
MMADIFF_LANES Lanes DefaultNans(const Format& f, NanRule rule) { return All(DefaultNan(f, rule)); }

// magnitude * 2^-shift rounded to an integer; the magnitude is at most kMaxLane.
MMADIFF_LANES Lanes RoundedShift(Rounding rounding, Lanes magnitude, Lanes shift, Lanes sign) {
  if (rounding == Rounding::kTowardZero) return DownOrUp(magnitude, shift);
  const Lanes down = Between0AndAll(shift - All(1)), up = Between0AndAll(All(1) - shift);
  const Lanes seen = Down(magnitude, down);
  const Lanes lost = Ones(hn::Ne(Up(seen, down), magnitude));
  const Lanes twice = Up(seen, up), kept = Down(twice, 1), half = twice & All(1);
  switch (rounding) {
    case Rounding::kTowardZero:
      break;
    case Rounding::kDown:
      return kept + ((half | lost) & sign & All(1));
    case Rounding::kUp:
      return kept + hn::AndNot(sign, (half | lost) & All(1));
    case Rounding::kToOdd:
      return kept | ((half | lost) & All(1));
    case Rounding::kNearestEven:
      return kept + (half & (kept | lost));
    case Rounding::kNearestAway:
      return kept + half;
  }
  return kept;
}

// RoundPack() for magnitudes of at most kMaxLane. `sign` is 0 or -1; a zero magnitude gives zero
// with that sign.
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
      Pick(hn::Ne(sign, Zero()), All(OverflowWord(f, alg, true)), All(OverflowWord(f, alg, false)));
  word = Pick(over, overflow, word);
  Mask none = hn::Eq(kept, Zero());
  if (alg.output_subnormals != Subnormals::kKeep) {
    Mask tiny = hn::Lt(leading, least);
    if (alg.tininess == Tininess::kAfterRounding) {
      // Not tiny if it would be normal with an unbounded exponent.
      const Mask near = hn::And(tiny, hn::Eq(leading, least - All(1)));
      if (!None(near)) {
        const Lanes free =
            RoundedShift(alg.output_rounding, magnitude, leading - All(digits) - lsb, sign);
        tiny = hn::AndNot(hn::And(near, hn::Ne(Down(free, digits + 1), Zero())), tiny);
      }
    }
    none = hn::Or(none, tiny);
  }
  return Pick(hn::Or(none, hn::Eq(magnitude, Zero())), zero, word);
}

// RoundSum() in lanes.
MMADIFF_LANES Lanes RoundSumLanes(const Model& m, Lanes sign, Lanes magnitude, Lanes lsb) {
  const Lanes word = RoundPackLanes(m.d, m.algorithm, sign, magnitude, lsb);
  if (m.algorithm.zero_sign != ZeroSign::kPositive) return word;
  return hn::IfThenZeroElse(hn::Eq(word, All(1ull << SignBit(m.d))), word);
}

// AddendExponentOf(); far below all others for a zero, far above for an infinity or a NaN.
MMADIFF_LANES Lanes AddendExponentLanes(const Model& m, const Format& f, const Operand& c) {
  if (m.algorithm.addend_exponent == AddendExponent::kOwnFormat) return c.exponent;
  const Lanes leading = c.exponent + BitWidth(c.magnitude) - All(1 + f.fraction_bits);
  const Lanes exponent = hn::Max(leading, All(m.d.min_exponent));
  const Mask special = AtLeast(c.exponent, kLeastNarrowSpecial);
  return Pick(hn::Or(IsZero(c), special), c.exponent, exponent);
}

// (-1)^sign * magnitude * 2^lsb, rounded to odd.
struct Sum {
  Lanes sign, magnitude, lsb;
};

// The sum of magnitudes below 2^(kBits - 2). The one with the smaller unit is shifted down and
// rounded to odd.
MMADIFF_LANES Sum AlignAndAdd(Lanes x_sign, Lanes x, Lanes x_lsb, Lanes y_sign, Lanes y,
                              Lanes y_lsb) {
  const Lanes lsb = hn::Max(x_lsb, y_lsb);
  const Lanes x_down = AtMostAll(lsb - x_lsb), y_down = AtMostAll(lsb - y_lsb);
  const Lanes x_kept = Down(x, x_down), y_kept = Down(y, y_down);
  x = WithSign(x_kept | (Ones(hn::Ne(Up(x_kept, x_down), x)) & All(1)), x_sign);
  y = WithSign(y_kept | (Ones(hn::Ne(Up(y_kept, y_down), y)) & All(1)), y_sign);
  const Lanes sum = x + y, sign = hn::BroadcastSignBit(sum);
  return {Pick(hn::Eq(sum, Zero()), x_sign & y_sign, sign), WithSign(sum, sign), lsb};
}

// AddToOdd() for magnitudes of at most 24 bits, or 53 in wide lanes. Of the 30 or 62 bits, enough
// are zeros; the sum has one bit more.
MMADIFF_LANES Sum AddToOddLanes(Lanes x_sign, Lanes x, Lanes x_lsb, Lanes y_sign, Lanes y,
                                Lanes y_lsb) {
  const Lanes x_up = All(kBits - 2) - BitWidth(x), y_up = All(kBits - 2) - BitWidth(y);
  const Mask no_x = hn::Eq(x, Zero()), no_y = hn::Eq(y, Zero());
  y_lsb = y_lsb - y_up;
  x_lsb = Pick(no_x, y_lsb, x_lsb - x_up);
  y_lsb = Pick(no_y, x_lsb, y_lsb);
  return AlignAndAdd(x_sign, Up(x, x_up), x_lsb, y_sign, Up(y, y_up), y_lsb);
}

// Rounds the sum of two terms with these signs.
MMADIFF_LANES Lanes RoundSumOfTwo(const Format& f, const Algorithm& alg, Sum sum, Lanes x_sign,
                                  Lanes y_sign) {
  if (alg.output_rounding == Rounding::kDown) {
    const Mask cancels = hn::And(hn::Eq(sum.magnitude, Zero()), hn::Ne(x_sign, y_sign));
    sum.sign = Pick(cancels, All(-1), sum.sign);
  }
  return RoundPackLanes(f, alg, sum.sign, sum.magnitude, sum.lsb);
}

// RoundTwo() in lanes.
MMADIFF_LANES Lanes RoundTwoLanes(const Format& f, const Algorithm& alg, const Operand& x,
                                  Lanes x_lsb, const Operand& y, Lanes y_lsb) {
  const Sum sum = AddToOddLanes(x.sign, x.magnitude, x_lsb, y.sign, y.magnitude, y_lsb);
  return RoundSumOfTwo(f, alg, sum, x.sign, y.sign);
}

// a * b + c where at least one operand is not finite. The word of a NaN is its magnitude.
MMADIFF_LANES Lanes FmaSpecialLanes(const Format& f, NanRule rule, const Operand& a,
                                    const Operand& b, const Operand& c) {
  const Lanes sign = a.sign ^ b.sign;
  const Mask infinite = hn::Or(IsInfinite(a), IsInfinite(b));
  const Mask opposite = hn::And(IsInfinite(c), hn::Ne(c.sign, sign));
  const Mask no_factor = hn::Or(IsZero(a), IsZero(b));
  Mask nan = hn::And(infinite, hn::Or(no_factor, opposite));
  nan = hn::Or(nan, hn::Or(IsNan(c), hn::Or(IsNan(a), IsNan(b))));
  Lanes nan_word = DefaultNans(f, rule);
  if (Propagates(rule)) {
    const bool a_last = rule == NanRule::kPropagateBca;
    if (a_last) nan_word = Pick(IsNan(a), a.magnitude, nan_word);
    nan_word = Pick(IsNan(c), c.magnitude, nan_word);
    nan_word = Pick(IsNan(b), b.magnitude, nan_word);
    if (!a_last) nan_word = Pick(IsNan(a), a.magnitude, nan_word);
  }
  return Pick(nan, nan_word, Infinities(f, Pick(infinite, sign, c.sign)));
}

// Add() for words of the output format, decoded by `in`.
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

}  // namespace MMADIFF_WIDTH
}  // namespace HWY_NAMESPACE
}  // namespace mmadiff
HWY_AFTER_NAMESPACE();

#endif
