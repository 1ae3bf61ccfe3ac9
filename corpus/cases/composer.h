// Words of a format that are neither infinity nor NaN.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/format.h"

namespace mmadiff {

// Exponent of the smallest positive number: a subnormal, or field 0 if the format has no zero.
MMADIFF_HD constexpr int Lowest(const Format& f) {
  return f.has_zero ? f.min_exponent - f.fraction_bits : f.min_exponent - 1;
}

// Bits of a draw that holds a fraction, its style and more.
MMADIFF_HD constexpr int DrawOf(const Format& f) {
  return f.fraction_bits + 9 <= 16 ? 16 : f.fraction_bits + 9 <= 32 ? 32 : 64;
}

struct Composer {
  MMADIFF_HD explicit Composer(const Format& f)
      : format(&f),
        lowest(Lowest(f)),
        highest(MaxExponent(f)),
        min_exponent(f.min_exponent),
        fraction_bits(f.fraction_bits),
        sign_bit(SignBit(f)),
        ignored_bits(f.ignored_bits),
        draw_bits(DrawOf(f)),
        largest(MaxFiniteWord(f) >> f.ignored_bits) {}

  // Clamps `exponent` to the format. A pattern beyond the largest number (all ones of e4m3) becomes
  // the largest. Below min_exponent, the number is subnormal.
  MMADIFF_HD uint64_t operator()(bool negative, int exponent, uint64_t fraction) const {
    exponent = std::max(lowest, std::min(exponent, highest));
    const int normal = std::max(exponent, min_exponent);
    const uint64_t base = static_cast<uint64_t>(normal - min_exponent) << fraction_bits;
    const uint64_t significand = (fraction | 1ull << fraction_bits) >> (normal - exponent);
    return static_cast<uint64_t>(negative) << sign_bit | std::min(base + significand, largest)
                                                             << ignored_bits;
  }

  const Format* format;
  int lowest, highest, min_exponent;  // exponents
  int fraction_bits, sign_bit, ignored_bits, draw_bits;
  uint64_t largest;  // magnitude, without ignored bits
};

// The positive numbers at the edges of a format: kEdges words.
inline constexpr int kEdges = 10;
template <class Out>
MMADIFF_HD void ComposeEdges(const Composer& compose, Out out) {
  const uint64_t ones = LowBits(compose.fraction_bits);
  int i = 0;
  const auto add = [&](int exponent, uint64_t fraction) {
    out[i++] = compose(false, exponent, fraction);
  };
  add(compose.lowest, 0);               // smallest subnormal
  add(compose.min_exponent - 1, ones);  // largest subnormal
  add(compose.min_exponent, 0);         // smallest normal
  add(compose.min_exponent, 1);
  add(0, 0);  // 1 and its neighbors
  add(0, 1);
  add(-1, ones);
  add(compose.highest, 0);
  add(compose.highest, ones - 1);  // second largest (e4m3: the largest)
  add(compose.highest, ones);      // largest
}

// Cached values for a format that is filled repeatedly.
#if defined(MMADIFF_ON_GPU)
using WordFormat = Format;
MMADIFF_HD inline Composer ComposerOf(const WordFormat& f) { return Composer(f); }
MMADIFF_HD inline const Format& FormatOf(const WordFormat& f) { return f; }
#else
struct WordFormat : Composer {
  explicit WordFormat(const Format& f) : Composer(f) {
    if (f.fraction_bits > 0) ComposeEdges(*this, edges);
  }
  uint64_t edges[kEdges] = {};
};
inline const Composer& ComposerOf(const WordFormat& f) { return f; }
inline const Format& FormatOf(const WordFormat& f) { return *f.format; }
#endif

}  // namespace mmadiff
