// Words of given exponents, and the operands of a tile made of them: what the boundary classes are
// built from.
//
// Exponents are drawn per k for a whole tile, split between the row of A, the column of B and their
// scales, so that every dot product of a tile has the structure of its class.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fuzz/cases/tile.h"
#include "sim/format.h"

namespace mmadiff {

// Exponent of the least positive number: a subnormal, or where zero is missing the field 0.
MMADIFF_HD constexpr int Lowest(const Format& f) {
  return f.has_zero ? f.min_exponent - f.fraction_bits : f.min_exponent - 1;
}

// Bits of a scale that have a meaning; those above are not read.
MMADIFF_HD constexpr int FieldBits(const Format& f) { return f.exponent_bits + f.fraction_bits; }

// Exponents that products of elements have, their scales included.
struct Range {
  int low, high;
};

// A number of an exponent, without sign and fraction.
template <class Bits>
struct Exponent {
  Bits base;   // word of the exponent field less one: adding a significand gives the word
  Bits shift;  // of the significand
};

template <class Bits>
MMADIFF_HD inline Exponent<Bits> ExponentOf(const Format& f, int exponent) {
  exponent = std::max(Lowest(f), std::min(exponent, MaxExponent(f)));
  const int normal = std::max(exponent, f.min_exponent);
  return {static_cast<Bits>(normal - f.min_exponent) << f.fraction_bits,
          static_cast<Bits>(normal - exponent)};
}

// Fractions are often all zeros, all ones, or the lowest or the highest bit alone: by style 0..7,
// the random bits that are kept and the bits that are set.
template <class Bits>
struct Style {
  Bits keep, set;
};
template <class Bits>
struct Styles {
  Style<Bits> by_number[8];

  MMADIFF_HD explicit Styles(const Format& f) {
    const Bits ones = static_cast<Bits>(LowBits(f.fraction_bits));
    by_number[0] = {0, 0};
    by_number[1] = {0, ones};
    by_number[2] = {0, 1};
    by_number[3] = {0, Bits{1} << (f.fraction_bits - 1)};
    by_number[4] = {ones & static_cast<Bits>(0x5555555555555555), 0};
    for (int style = 5; style < 8; ++style) by_number[style] = {ones, 0};
  }
};

// A fraction of one style, for a word on its own.
MMADIFF_HD inline uint64_t Styled(const Format& f, int style, uint64_t bits) {
  const uint64_t ones = LowBits(f.fraction_bits);
  if (style >= 5) return bits & ones;
  if (style == 4) return bits & ones & 0x5555555555555555;
  return style == 0 ? 0 : style == 1 ? ones : style == 2 ? 1 : 1ull << (f.fraction_bits - 1);
}

MMADIFF_HD inline int Sum(const TileKind& in, int (*of)(const Format&)) {
  return of(*in.a) + of(*in.b);
}

// Two exponents that add up to `sum`, each in the range of its format, or as near as can be.
struct ExponentPair {
  int a, b;
};

MMADIFF_HD_CALL inline ExponentPair SplitExponent(const Format& a, const Format& b, int sum,
                                                  Random& r) {
  const int low = std::max(Lowest(a), sum - MaxExponent(b));
  const int high = std::min(MaxExponent(a), sum - Lowest(b));
  if (low > high) {  // out of reach
    return sum > 0 ? ExponentPair{MaxExponent(a), MaxExponent(b)}
                   : ExponentPair{Lowest(a), Lowest(b)};
  }
  const int x = std::clamp(sum / 2 + r.Between(-3, 3), low, high);
  return {x, sum - x};
}

// Exponent of a scale, its fraction aside.
MMADIFF_HD inline int ExponentOfScale(const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  int exponent = u.exponent;
  for (uint64_t s = u.significand; s != 0 && s >> f.fraction_bits == 0; s <<= 1) --exponent;
  return exponent;
}

// Neither infinity nor NaN. `exponent` is clamped to the format, and a pattern beyond the largest
// number (all ones of e4m3) becomes the largest; below min_exponent the number is subnormal.
MMADIFF_HD_CALL inline uint64_t Compose(const Format& f, bool negative, int exponent,
                                        uint64_t fraction) {
  const auto e = ExponentOf<uint64_t>(f, exponent);
  const uint64_t sign = static_cast<uint64_t>(negative) << (f.fraction_bits + f.exponent_bits);
  const uint64_t significand = (fraction | 1ull << f.fraction_bits) >> e.shift;
  const uint64_t largest = MaxFiniteWord(f) >> f.ignored_bits;
  return (sign | std::min(e.base + significand, largest)) << f.ignored_bits;
}

// FillWords() in words that hold a draw of `draw` bits, and so a word of the format.
template <class Bits>
MMADIFF_HD void FillWordsOf(const Format& f, const int (&exponents)[4], bool zeros, int draw,
                            Words out, int count, int stride, Random& r) {
  const Styles<Bits> styles(f);
  const Exponent<Bits> by_code[4] = {
      ExponentOf<Bits>(f, exponents[0]), ExponentOf<Bits>(f, exponents[1]),
      ExponentOf<Bits>(f, exponents[2]), ExponentOf<Bits>(f, exponents[3])};
  const int fb = f.fraction_bits, sign_shift = fb + f.exponent_bits, ignored = f.ignored_bits;
  const Bits zero_code = zeros ? 0 : 8;  // 8 is no value of three bits
  const Bits largest = static_cast<Bits>(MaxFiniteWord(f) >> ignored);
  for (int i = 0; i < count; ++i, out += stride) {
    // Sign 1, style 3, exponent 2, zero 3, fraction.
    const Bits bits = sizeof(Bits) == 4 ? r.Bits32(draw) : static_cast<Bits>(r.Bits(draw));
    const Style<Bits> style = styles.by_number[(bits >> 1) & 7];
    const Exponent<Bits> e = by_code[(bits >> 4) & 3];
    const Bits fraction = (bits >> 9 & style.keep) | style.set;
    const Bits magnitude =
        std::min<Bits>(e.base + ((fraction | Bits{1} << fb) >> e.shift), largest);
    const Bits nonzero = -static_cast<Bits>(((bits >> 6) & 7) != zero_code);
    *out = ((bits & 1) << sign_shift | (magnitude & nonzero)) << ignored;
  }
}

// `count` words, `stride` apart, each of one of four exponents, one in eight zero if `zeros`. The
// format must have a sign and a fraction.
// Without branches on random data, which no processor predicts: this makes most of the bits of a
// run.
MMADIFF_HD_CALL inline void FillWords(const Format& f, const int (&exponents)[4], bool zeros,
                                      Words out, int count, int stride, Random& r) {
  const int fb = f.fraction_bits;
  if (fb + 9 > 32) return FillWordsOf<uint64_t>(f, exponents, zeros, 64, out, count, stride, r);
  FillWordsOf<uint32_t>(f, exponents, zeros, fb + 9 <= 16 ? 16 : 32, out, count, stride, r);
}

// As FillWords with one exponent makes it.
MMADIFF_HD_CALL inline uint64_t RandomWord(const Format& f, int exponent, Random& r) {
  const int fb = f.fraction_bits;
  const uint64_t bits = r.Bits(fb + 9 <= 16 ? 16 : fb + 9 <= 32 ? 32 : 64);
  return Compose(f, bits & 1, exponent, Styled(f, (bits >> 1) & 7, bits >> 9));
}

// Zero of either sign, as far as the format has them.
MMADIFF_HD inline uint64_t Zero(const Format& f, Random& r) {
  const uint64_t sign = f.is_signed && f.nonfinite != Nonfinite::kNanMinusZero;
  return static_cast<uint64_t>(r.Coin() & sign) << SignBit(f);
}

MMADIFF_HD_CALL inline void FillZeros(const Format& f, Words out, int count, int stride,
                                      Random& r) {
  for (int i = 0; i < count; ++i, out += stride) *out = Zero(f, r);
}

// Infinity, or a NaN of any payload (quiet or signalling, in ignored bits too); any number if the
// format has neither.
MMADIFF_HD_CALL inline uint64_t Special(const Format& f, Random& r) {
  const uint64_t bits = r.Bits(f.bits > 32 ? 64 : 32) & LowBits(f.bits);
  const uint64_t sign = static_cast<uint64_t>(r.Coin()) << SignBit(f);
  if (f.nonfinite == Nonfinite::kNone) return bits;
  if (f.nonfinite == Nonfinite::kNanMinusZero) return 1ull << SignBit(f);
  if (f.nonfinite == Nonfinite::kNanAllOnes) {
    return LowBits(f.exponent_bits + f.fraction_bits) | (f.is_signed ? sign : 0);
  }
  switch (r.Below(4)) {
    case 0:
      return InfinityWord(f, false) | sign;
    case 1:  // one payload bit
      return InfinityWord(f, false) | sign | 1ull << r.Below(f.fraction_bits + f.ignored_bits);
    default:
      return InfinityWord(f, false) | sign | (bits & LowBits(f.fraction_bits + f.ignored_bits));
  }
}

// `count` words from the edges of a format, of either sign; infinities and NaNs only if `specials`.
MMADIFF_HD_CALL inline void FillEdges(const Format& f, bool specials, Words out, int count,
                                      Random& r) {
  const uint64_t ones = LowBits(f.fraction_bits);
  const auto positive = [&f](int exponent, uint64_t fraction) {
    return Compose(f, false, exponent, fraction);
  };
  const auto any = [&f, &r] { return RandomWord(f, r.Between(Lowest(f), MaxExponent(f)), r); };
  const uint64_t edges[16] = {
      Zero(f, r),
      positive(Lowest(f), 0),              // smallest subnormal
      positive(f.min_exponent - 1, ones),  // largest subnormal
      positive(f.min_exponent, 0),         // smallest normal
      positive(f.min_exponent, 1),
      positive(0, 0),  // 1, and its neighbours
      positive(0, 1),
      positive(-1, ones),
      positive(MaxExponent(f), 0),
      positive(MaxExponent(f), ones - 1),  // largest but one (e4m3: the largest)
      positive(MaxExponent(f), ones),      // largest
      specials ? Special(f, r) : any(),
      specials ? Special(f, r) : any(),
      any(),
      any(),
      any(),
  };
  // The pattern of -0 may be a NaN.
  const uint64_t minus_zero = f.nonfinite == Nonfinite::kNanMinusZero ? 1ull << SignBit(f) : ~0ull;
  for (int i = 0; i < count; ++i) {
    const uint64_t bits = r.Bits(8);
    const uint64_t word = edges[bits & 15];
    const uint64_t negated = word ^ (bits >> 4 & 1) << SignBit(f);
    out[i] = negated == minus_zero ? word : negated;
  }
}

MMADIFF_HD inline Range ProductRange(const TileKind& in) {
  Range range = {Sum(in, Lowest), Sum(in, MaxExponent)};
  if (in.scale != nullptr) {
    range.low += 2 * Lowest(*in.scale);
    range.high += 2 * MaxExponent(*in.scale);
  }
  return range;
}

// An exponent that products and output both reach, mostly far from the edges.
MMADIFF_HD_CALL inline int MiddleExponent(const TileKind& in, Random& r) {
  const Range reach = ProductRange(in);
  const int margin = std::min(8, (reach.high - reach.low) / 4);  // of formats with few exponents
  const int low = std::max(reach.low + margin, in.d->min_exponent);
  const int high = std::min(reach.high - margin, MaxExponent(*in.d) - 6);
  if (r.Coin()) return r.Between(std::max(low, -12), std::min(high, 12));
  return r.Between(low, high);
}

// Exponent that the scales over term k add to that of its products.
// Those of the first row and column; the others have the same exponent, unless they were spread.
MMADIFF_HD_CALL inline int ScaleExponent(const Tile& t, int k) {
  const TileKind& in = t.instruction;
  if (in.scale == nullptr) return 0;
  const int at = t.k() + k / t.scale_block();
  return ExponentOfScale(*in.scale, t.a[at]) + ExponentOfScale(*in.scale, t.b[at]);
}

// Scales of one block: their product is near 2^exponent; `spread`: near that or as many powers of
// two less, per row of A.
MMADIFF_HD_CALL inline void FillScales(const Tile& t, int block, int exponent, Random& r,
                                       int spread = 0) {
  const Format& f = *t.instruction.scale;
  const ExponentPair split = SplitExponent(f, f, exponent - spread / 2, r);
  const auto fill = [&](Words out, int count, int e, int below) {
    for (int i = 0; i < count; ++i) {
      const int exponent_here = below == 0 ? e : e + below / 2 - r.Below(below + 1);
      out[i * t.stride()] = Compose(f, false, exponent_here, r.Bits(f.fraction_bits));
    }
  };
  fill(t.a + t.k() + block, t.rows(), split.a, spread);
  fill(t.b + t.k() + block, t.columns(), split.b, 0);
}

// Sets the scales of one block, or of all, so that products of elements reach 2^exponent, or come
// near. Without scales there is nothing to do.
MMADIFF_HD inline void AimBlock(const Tile& t, int block, int exponent, Random& r) {
  const TileKind& in = t.instruction;
  FillScales(t, block, exponent - r.Between(Sum(in, Lowest), Sum(in, MaxExponent)), r);
}

MMADIFF_HD inline void Aim(const Tile& t, int exponent, Random& r) {
  for (int block = 0; block < t.scales(); ++block) AimBlock(t, block, exponent, r);
}

// Products of term k near 2^product, or as near as its scales allow.
// The fourth exponent of a term is one lower, so that rows differ.
MMADIFF_HD_CALL inline void FillProducts(const Tile& t, int k, int product, Random& r) {
  const TileKind& in = t.instruction;
  const auto [a, b] = SplitExponent(*in.a, *in.b, product - ScaleExponent(t, k), r);
  FillWords(*in.a, {a, a, a, a - 1}, false, t.a + k, t.rows(), t.stride(), r);
  FillWords(*in.b, {b, b, b, b - 1}, false, t.b + k, t.columns(), t.stride(), r);
}

// Products of term k exactly +-2^product, or as many as `spread` powers of two less; sign and
// exponent per row of A.
MMADIFF_HD_CALL inline void FillPowers(const Tile& t, int k, int product, Random& r,
                                       int spread = 0) {
  const TileKind& in = t.instruction;
  const ExponentPair split =
      SplitExponent(*in.a, *in.b, product - spread / 2 - ScaleExponent(t, k), r);
  const int stride = t.stride();
  const uint64_t power_a = Compose(*in.a, false, split.a, 0);
  const uint64_t sign = Compose(*in.a, true, split.a, 0) ^ power_a;
  for (int i = 0; i < t.rows(); ++i) {
    const int below = spread == 0 ? 0 : spread / 2 - r.Below(spread + 1);
    const uint64_t negative = -static_cast<uint64_t>(r.Coin());
    t.a[i * stride + k] =
        (below == 0 ? power_a : Compose(*in.a, false, split.a + below, 0)) | (sign & negative);
  }
  const uint64_t power_b = Compose(*in.b, false, split.b, 0);
  for (int j = 0; j < t.columns(); ++j) t.b[j * stride + k] = power_b;
}

// Zeros of term k in all rows of A.
MMADIFF_HD_CALL inline void ZeroRows(const Tile& t, int k, Random& r) {
  FillZeros(*t.instruction.a, t.a + k, t.rows(), t.stride(), r);
}

// Term y becomes the negative of term x.
MMADIFF_HD_CALL inline void Negate(const Tile& t, int x, int y) {
  const Format& f = *t.instruction.b;
  const uint64_t zero = f.nonfinite == Nonfinite::kNanMinusZero ? 0 : ~0ull;
  for (int i = 0; i < t.rows(); ++i) t.a[i * t.stride() + y] = t.a[i * t.stride() + x];
  for (int j = 0; j < t.columns(); ++j) {
    const uint64_t word = t.b[j * t.stride() + x];
    t.b[j * t.stride() + y] = word == zero ? word : word ^ 1ull << SignBit(f);
  }
}

// Addends of exponents `low` to `high`.
MMADIFF_HD_CALL inline void FillAddends(const Tile& t, int high, int low, Random& r) {
  FillWords(*t.instruction.c,
            {high, r.Between(low, high), r.Between(low, high), r.Between(low, high)}, true, t.c,
            t.results(), 1, r);
}

}  // namespace mmadiff
