// Boundary classes of conversions: operands around the numbers of the output, and the edges of their
// own format. Only the host makes them.
#pragma once

#include <algorithm>

#include "corpus/cases/operands.h"

namespace mmadiff::conversion_classes {

// An operand of that exponent whose bits below the last bit of the output are zero, one, all ones,
// half an ulp or next to half an ulp.
inline uint64_t NearHalf(const TileKind& in, int exponent, Random& r) {
  const Format &a = *in.a, &d = *in.d;
  const int least = d.has_zero ? d.min_exponent : d.min_exponent - 1;
  const int kept = d.fraction_bits - std::max(0, least - exponent);
  const int lost = std::clamp(a.fraction_bits - kept, 0, a.fraction_bits);
  const uint64_t half = lost == 0 ? 0 : 1ull << (lost - 1);
  const uint64_t lows[] = {half, half, half - 1, half + 1, 0, 1, LowBits(lost), r.Bits(lost)};
  const uint64_t fraction = r.Bits(a.fraction_bits) >> lost << lost;
  return Compose(a, a.is_signed && r.Coin(), exponent,
                 fraction | (lows[r.Below(8)] & LowBits(lost)));
}

// Operands with exponents from `low` to `high`, as far as the operand's format reaches.
inline void FillNear(const Tile& t, int low, int high, Random& r) {
  const Format& a = *t.instruction.a;
  low = std::clamp(low, Lowest(a), MaxExponent(a));
  high = std::clamp(high, low, MaxExponent(a));
  for (int i = 0; i < t.rows(); ++i) t.a[i] = NearHalf(t.instruction, r.Between(low, high), r);
}

inline void Edges(const Tile& t, Random& r) {
  const Format& a = *t.instruction.a;
  if (a.fraction_bits > 0) {
    return FillEdgeRows(t.instruction.a_words(), true, t.a, t.rows(), 1, 1, r);
  }
  const uint64_t edges[] = {0, 1, LowBits(a.bits), LowBits(a.bits) - 1, LowBits(a.bits) >> 1};
  for (int i = 0; i < t.rows(); ++i) t.a[i] = edges[r.Below(5)];
}

// Halfway between two neighbors in the output, or next to that.
inline void Tie(const Tile& t, Random& r) {
  const Format& d = *t.instruction.d;
  const int low = std::max(d.min_exponent, -12), high = std::min(MaxExponent(d) - 1, 12);
  r.Coin() ? FillNear(t, low, high, r) : FillNear(t, Lowest(d), MaxExponent(d), r);
}

inline void Underflow(const Tile& t, Random& r) {
  const Format& d = *t.instruction.d;
  FillNear(t, Lowest(d) - 2, d.min_exponent, r);
}

// The largest output, the operand halfway to the next number, and larger operands.
inline void Overflow(const Tile& t, Random& r) {
  const Format &a = *t.instruction.a, &d = *t.instruction.d;
  const int top = MaxExponent(d), lost = std::max(0, a.fraction_bits - d.fraction_bits);
  const uint64_t largest = MaxFiniteWord(d) >> d.ignored_bits & LowBits(d.fraction_bits);
  for (int i = 0; i < t.rows(); ++i) {
    if (r.OneIn(3)) {
      t.a[i] = NearHalf(t.instruction, top + r.Between(-1, 2), r);
      continue;
    }
    const uint64_t half = lost == 0 ? 0 : 1ull << (lost - 1);
    const uint64_t lows[] = {0, half - 1, half, half + 1, LowBits(lost)};
    const uint64_t kept = a.fraction_bits >= d.fraction_bits
                              ? largest << lost
                              : largest >> (d.fraction_bits - a.fraction_bits);
    t.a[i] = Compose(a, a.is_signed && r.Coin(), top, kept | (lows[r.Below(5)] & LowBits(lost)));
  }
}

// Infinities and NaN payloads, half of them; others are any words.
inline void Specials(const Tile& t, Random& r) {
  const Format& a = *t.instruction.a;
  for (int i = 0; i < t.rows(); ++i) t.a[i] = r.Coin() ? Special(a, r) : r.Bits(a.bits);
}

inline void Subnormals(const Tile& t, Random& r) {
  const Format& a = *t.instruction.a;
  for (int i = 0; i < t.rows(); ++i) {
    const uint64_t word = r.Bits(a.fraction_bits) >> r.Below(a.fraction_bits + 1);
    t.a[i] = (word << a.ignored_bits) |
             static_cast<uint64_t>(a.is_signed && r.Coin() && HasMinusZero(a)) << SignBit(a);
  }
}

inline constexpr InputClass kClasses[] = {
    {"edges", "every operand from the edges of its format", Edges},
    {"tie", "half an ulp of the output, or next to it", Tie},
    {"underflow", "results around the smallest output", Underflow},
    {"overflow", "results around the largest output", Overflow},
    {"specials", "infinities and NaN payloads", Specials},
    {"subnormals", "subnormal operands", Subnormals},
};

}  // namespace mmadiff::conversion_classes
