// Rounds and packs an exact magnitude into a format. `Wide` is uint32_t (for formats with fewer
// bits), uint64_t or unsigned __int128.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"

namespace mmadiff {

template <class Wide>
MMADIFF_HD constexpr int BitWidth(Wide x) {
  if constexpr (sizeof(Wide) > 8) {
    const uint64_t high = static_cast<uint64_t>(x >> 64);
    if (high != 0) return 128 - __builtin_clzll(high);
  }
  if constexpr (sizeof(Wide) == 4) return x == 0 ? 0 : 32 - __builtin_clz(x);
  const uint64_t low = static_cast<uint64_t>(x);
  return low == 0 ? 0 : 64 - __builtin_clzll(low);
}

// The type of a rounded magnitude.
template <class Wide>
struct RoundedBits {
  using Type = uint64_t;
};
template <>
struct RoundedBits<uint32_t> {
  using Type = uint32_t;
};

template <class Wide>
struct Shifted {
  Wide magnitude;
  bool inexact;
};

// `kept` rounded according to the bits that a right shift lost: 0 <= lost < 2^shift, half is half of
// 2^shift.
template <class Wide>
MMADIFF_HD constexpr Wide RoundedUp(Wide kept, Wide lost, Wide half, Rounding rounding,
                                    bool negative) {
  switch (rounding) {
    case Rounding::kTowardZero:
      return kept;
    case Rounding::kDown:
      return kept + (negative && lost != 0);
    case Rounding::kUp:
      return kept + (!negative && lost != 0);
    case Rounding::kToOdd:
      return kept | (lost != 0);
    case Rounding::kNearestAway:
      return kept + ((lost >= half) & (lost != 0));
    case Rounding::kNearestEven:
      return kept + ((lost > half) | ((lost == half) & (lost != 0) & static_cast<bool>(kept & 1)));
  }
  return kept;
}

// magnitude * 2^-shift rounded to an integer. A negative shift is exact and must not overflow Wide.
template <class Wide>
MMADIFF_HD constexpr Shifted<Wide> ShiftRight(Wide magnitude, int shift, Rounding rounding,
                                              bool negative) {
  constexpr int kBits = 8 * sizeof(Wide);
  if (shift <= 0) return {static_cast<Wide>(magnitude << -shift), false};
  if (shift >= kBits) {
    // Below half, or half itself when shift == kBits.
    const Wide half = shift == kBits ? Wide{1} << (kBits - 1) : ~Wide{0};
    return {RoundedUp<Wide>(0, magnitude, half, rounding, negative), magnitude != 0};
  }
  const Wide lost = magnitude & ((Wide{1} << shift) - 1);
  const Wide half = Wide{1} << (shift - 1);
  return {RoundedUp<Wide>(magnitude >> shift, lost, half, rounding, negative), lost != 0};
}

// Whether a result below the normal range is flushed. `leading` is the exponent of its leading one.
template <class Wide>
MMADIFF_HD constexpr bool IsTiny(const Format& f, const Algorithm& alg, bool negative,
                                 Wide magnitude, int lsb_exponent, int leading) {
  if (alg.tininess == Tininess::kBeforeRounding || leading != f.min_exponent - 1) return true;
  // Rounded with an unbounded exponent, is it still below the normal range?
  const int digits = alg.output_fraction_bits;
  const Shifted<Wide> unbounded =
      ShiftRight<Wide>(magnitude, leading - digits - lsb_exponent, alg.output_rounding, negative);
  return BitWidth(unbounded.magnitude) <= digits + 1;
}

// The result if a rounded magnitude exceeds the largest finite number.
MMADIFF_HD constexpr uint64_t OverflowWord(const Format& f, const Algorithm& alg, bool negative) {
  const Rounding away = negative ? Rounding::kDown : Rounding::kUp;
  if (alg.range_overflow == RangeOverflow::kInfinity ||
      alg.output_rounding == Rounding::kNearestEven || alg.output_rounding == away ||
      alg.output_rounding == Rounding::kNearestAway) {
    return InfinityWord(f, negative);
  }
  const int dropped = f.fraction_bits - alg.output_fraction_bits + f.ignored_bits;
  const uint64_t sign = static_cast<uint64_t>(negative) << SignBit(f);
  return sign | MaxFiniteWord(f) >> dropped << dropped;
}

// Rounds (-1)^negative * magnitude * 2^lsb_exponent to output_fraction_bits after the leading one
// (at most the format's own) and packs it. A zero magnitude gives zero of the given sign.
template <class Wide>
MMADIFF_HD constexpr uint64_t RoundPack(const Format& f, const Algorithm& alg, bool negative,
                                        Wide magnitude, int lsb_exponent, bool* inexact) {
  const int digits = alg.output_fraction_bits;
  const bool drops_sign = alg.output_subnormals == Subnormals::kFlushPositive;
  const uint64_t sign = static_cast<uint64_t>(negative) << (f.fraction_bits + f.exponent_bits);
  const uint64_t zero = drops_sign ? 0 : sign << f.ignored_bits;
  *inexact = false;
  if (magnitude == 0) return zero;
  const int leading = BitWidth(magnitude) - 1 + lsb_exponent;
  const bool small = leading < f.min_exponent;
  const int exponent = small ? f.min_exponent : leading;
  const Shifted<Wide> r =
      ShiftRight<Wide>(magnitude, exponent - digits - lsb_exponent, alg.output_rounding, negative);
  *inexact = r.inexact;
  using Bits = typename RoundedBits<Wide>::Type;
  const Bits significand = static_cast<Bits>(r.magnitude);
  const int carry = static_cast<int>(significand >> (digits + 1));
  if (exponent + carry > MaxExponent(f)) return OverflowWord(f, alg, negative);
  if (small && alg.output_subnormals != Subnormals::kKeep &&
      IsTiny(f, alg, negative, magnitude, lsb_exponent, leading)) {
    return zero;
  }
  if (significand == 0) return zero;
  // The leading one of a normal number adds one to the field; a carry adds one more.
  const Bits field = static_cast<Bits>(exponent - f.min_exponent) << f.fraction_bits;
  const uint64_t rest = field + (significand << (f.fraction_bits - digits));
  return (sign | rest) << f.ignored_bits;
}

// The NaN of an invalid operation.
MMADIFF_HD constexpr uint64_t DefaultNan(const Format& f, NanRule rule) {
  if (f.nonfinite == Nonfinite::kNanAllOnes || rule == NanRule::kAllOnes) {
    return LowBits(f.fraction_bits + f.exponent_bits) << f.ignored_bits;
  }
  const uint64_t quiet = 1ull << (f.fraction_bits - 1) << f.ignored_bits;
  return InfinityWord(f, Propagates(rule)) | quiet;
}

}  // namespace mmadiff
