// Conversions of single words between formats, as kernels do them on the way into and out of a plan.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/format.h"
#include "sim/round.h"

namespace mmadiff {

// The number in FP8, as PTX's cvt.rn.satfinite.e4m3x2.f32: infinity and overflow give the largest
// number, a NaN gives 7f. `lsb` is the exponent of the significand's last bit.
uint64_t ToFp8(const Format& to, const Unpacked& x, int lsb);

// Rounds to nearest even; overflow gives infinity, in FP8 the largest number. A NaN becomes
// DefaultNan(), or under a propagating rule keeps its sign and the upper bits of its payload, quieted.
inline uint64_t Convert(const Format& from, const Format& to, NanRule nan_rule, uint64_t word) {
  const Unpacked x = Decode(from, word);
  const int lsb = x.exponent - from.fraction_bits;
  if (to.bits == 8) return ToFp8(to, x, lsb);
  if (x.kind == Kind::kInfinite) return InfinityWord(to, x.negative);
  if (x.kind == Kind::kNan) {
    if (!Propagates(nan_rule)) return DefaultNan(to, nan_rule);
    const uint64_t fraction = (word >> from.ignored_bits) & LowBits(from.fraction_bits);
    const int down = from.fraction_bits - to.fraction_bits;
    const uint64_t kept = down > 0 ? fraction >> down : fraction << -down;
    const uint64_t quiet = kept | 1ull << (to.fraction_bits - 1);
    return InfinityWord(to, x.negative) | quiet << to.ignored_bits;
  }
  Algorithm rounding = {};
  rounding.output_fraction_bits = to.fraction_bits;
  bool inexact = false;
  return RoundPack<uint64_t>(to, rounding, x.negative, x.significand, lsb, &inexact);
}

// Whether words of `from` are words of `to` as they are: in equal formats, and f32 as tf32.
constexpr bool HasWordsOf(const Format& to, const Format& from) {
  const bool drops_bits = from.ignored_bits == 0 && to.ignored_bits > 0 && from.bits == to.bits &&
                          from.exponent_bits == to.exponent_bits;
  return std::string_view(from.name) == to.name || drops_bits;
}

// Whether every number of `from`, -0 too, is one of `to`.
constexpr bool Holds(const Format& to, const Format& from) {
  const auto has_minus_zero = [](const Format& f) {
    return f.is_signed && f.has_zero && f.nonfinite != Nonfinite::kNanMinusZero;
  };
  return from.fraction_bits <= to.fraction_bits && MaxExponent(from) <= MaxExponent(to) &&
         from.min_exponent - from.fraction_bits >= to.min_exponent - to.fraction_bits &&
         !IsInteger(to) && !IsInteger(from) && HasInfinity(to) >= HasInfinity(from) &&
         has_minus_zero(to) >= has_minus_zero(from) && to.is_signed >= from.is_signed &&
         to.has_zero >= from.has_zero;
}

}  // namespace mmadiff
