// Words with given exponents, and the tile operands made of them: the building blocks of the
// boundary classes.
//
// Exponents are drawn per k for a whole tile. They are split between the row of A, the column of B
// and their scales, so every dot product of a tile has the structure of its class.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "corpus/cases/composer.h"
#include "corpus/cases/fills.h"
#include "corpus/cases/tile.h"
#include "sim/format.h"

namespace mmadiff {

// Bits of a scale that have a meaning. Higher bits are not read.
MMADIFF_HD constexpr int FieldBits(const Format& f) { return f.exponent_bits + f.fraction_bits; }

// Exponents of element products, including their scales.
struct Range {
  int low, high;
};

// An exponent, without sign and fraction.
template <class Bits>
struct Exponent {
  Bits base;   // word of the exponent field minus one; base + significand is the word
  Bits shift;  // shift of the significand
};

template <class Bits>
MMADIFF_HD inline Exponent<Bits> ExponentOf(const Format& f, int exponent) {
  exponent = std::max(Lowest(f), std::min(exponent, MaxExponent(f)));
  const int normal = std::max(exponent, f.min_exponent);
  return {static_cast<Bits>(normal - f.min_exponent) << f.fraction_bits,
          static_cast<Bits>(normal - exponent)};
}

// Fractions are often all zeros, all ones, only the lowest bit or only the highest bit. For each
// style 0..7: the random bits that are kept, and the bits that are set, including the hidden bit.
template <class Bits>
struct Styles {
#if defined(MMADIFF_ON_GPU)
  static constexpr int kNumbers = 8;
#else
  static constexpr int kNumbers = 16;  // the 8 styles twice, to fill a vector
#endif
  alignas(kNumbers * sizeof(Bits) % 64 == 0 ? 64 : alignof(Bits)) Bits keep[kNumbers] = {};
  Bits set[kNumbers] = {};

  Styles() = default;
  MMADIFF_HD constexpr explicit Styles(int fraction_bits) {
    const Bits ones = static_cast<Bits>(LowBits(fraction_bits)), hidden = ones + 1;
    for (int i = 0; i < kNumbers; i += 8) {
      for (int style = 0; style < 8; ++style) set[i + style] = hidden;
      set[i + 1] |= ones;
      set[i + 2] |= 1;
      set[i + 3] |= hidden / 2;
      keep[i + 4] = ones & static_cast<Bits>(0x5555555555555555);
      keep[i + 5] = keep[i + 6] = keep[i + 7] = ones;
    }
  }
};

#if !defined(MMADIFF_ON_GPU)
// Indexed by fraction bits, for words of Bits.
template <class Bits>
inline constexpr auto kStyles = [] {
  std::array<Styles<Bits>, sizeof(Bits) == 4 ? 24 : 53> all;
  for (size_t bits = 1; bits < all.size(); ++bits) all[bits] = Styles<Bits>(bits);
  return all;
}();
#endif

// Made once on the host; kept in registers on a GPU.
template <class Bits>
MMADIFF_HD decltype(auto) StylesOf(const Format& f) {
#if defined(MMADIFF_ON_GPU)
  return Styles<Bits>(f.fraction_bits);
#else
  return (kStyles<Bits>[f.fraction_bits]);
#endif
}

MMADIFF_HD inline int Sum(const TileKind& in, int (*of)(const Format&)) {
  return of(*in.a) + of(*in.b);
}

// Two exponents with the given sum, each in the range of its format. If the sum is out of reach, as
// near as possible.
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

// Exponent of a scale without its fraction.
MMADIFF_HD inline int ExponentOfScale(const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  int exponent = u.exponent;
  for (uint64_t s = u.significand; s != 0 && s >> f.fraction_bits == 0; s <<= 1) --exponent;
  return exponent;
}

MMADIFF_HD_CALL inline uint64_t Compose(const Format& f, bool negative, int exponent,
                                        uint64_t fraction) {
  return Composer(f)(negative, exponent, fraction);
}

// Makes the same words as FillWords(), one at a time.
class RandomWords {
 public:
  MMADIFF_HD explicit RandomWords(const Format& f) : RandomWords(Composer(f)) {}
  MMADIFF_HD explicit RandomWords(const Composer& compose)
      : compose_(compose), styles_(StylesOf<uint64_t>(*compose.format)) {}

  MMADIFF_HD uint64_t operator()(int exponent, Random& r) const {
    return Of(r.Bits(draw()), exponent);
  }
  MMADIFF_HD uint64_t Of(uint64_t draw, int exponent) const {
    return compose_(draw & 1, exponent, FractionOf(draw));
  }
  // The fraction for a draw, with the hidden bit.
  MMADIFF_HD uint64_t FractionOf(uint64_t draw) const {
    const int style = (draw >> 1) & 7;
    return (draw >> 9 & styles_.keep[style]) | styles_.set[style];
  }
  MMADIFF_HD int draw() const { return compose_.draw_bits; }
  // A word of any exponent of the format.
  MMADIFF_HD uint64_t operator()(Random& r) const {
    const int exponent = r.Between(compose_.lowest, compose_.highest);
    return (*this)(exponent, r);
  }

 private:
  Composer compose_;
#if defined(MMADIFF_ON_GPU)
  Styles<uint64_t> styles_;
#else
  const Styles<uint64_t>& styles_;
#endif
};

// FillWords() for words that hold a draw of `draw` bits and therefore a word of the format.
template <class Bits>
MMADIFF_HD void FillWordsOf(const Format& f, const int (&exponents)[4], bool zeros, int draw,
                            TileWords out, int count, int stride, Random& r) {
  const Styles<Bits>& styles = StylesOf<Bits>(f);
  const Exponent<Bits> by_code[4] = {
      ExponentOf<Bits>(f, exponents[0]), ExponentOf<Bits>(f, exponents[1]),
      ExponentOf<Bits>(f, exponents[2]), ExponentOf<Bits>(f, exponents[3])};
  const int sign_shift = f.fraction_bits + f.exponent_bits, ignored = f.ignored_bits;
  const Bits zero_code = zeros ? 0 : 8;  // 8 is not a value of three bits
  const Bits largest = static_cast<Bits>(MaxFiniteWord(f) >> ignored);
  for (int i = 0; i < count; ++i, out += stride) {
    // Bits: sign 1, style 3, exponent 2, zero 3, fraction.
    const Bits bits = sizeof(Bits) == 4 ? r.Bits32(draw) : static_cast<Bits>(r.Bits(draw));
    const int style = (bits >> 1) & 7;
    const Exponent<Bits> e = by_code[(bits >> 4) & 3];
    const Bits significand = (bits >> 9 & styles.keep[style]) | styles.set[style];
    const Bits magnitude = std::min<Bits>(e.base + (significand >> e.shift), largest);
    const Bits nonzero = -static_cast<Bits>(((bits >> 6) & 7) != zero_code);
    *out = ((bits & 1) << sign_shift | (magnitude & nonzero)) << ignored;
  }
}

// `count` words, `stride` apart, each with one of four exponents. If `zeros`, one word in eight is
// zero. The format must have a sign and a fraction.
// No branches on random data, because no processor predicts them: this function makes most of the
// bits of a run.
MMADIFF_HD_CALL inline void FillWords(const WordFormat& words, const int (&exponents)[4],
                                      bool zeros, TileWords out, int count, int stride, Random& r) {
#if defined(MMADIFF_ON_GPU)
  const Format& f = words;
#else
  constexpr int kWorthIt = 6;
  if (const FillTarget* const fill = BestFill(); fill != nullptr && count >= kWorthIt) {
    return fill->make(words, exponents, zeros, count, &*out, stride * out.step(), r);
  }
  const Format& f = FormatOf(words);
  if (count == 1) {
    const uint64_t bits = r.Bits(DrawOf(f));
    const uint64_t word = RandomWords(f).Of(bits, exponents[(bits >> 4) & 3]);
    *out = zeros && ((bits >> 6) & 7) == 0 ? word & 1ull << SignBit(f) : word;
    return;
  }
#endif
  const int draw = DrawOf(f);
  if (draw == 64) return FillWordsOf<uint64_t>(f, exponents, zeros, draw, out, count, stride, r);
  FillWordsOf<uint32_t>(f, exponents, zeros, draw, out, count, stride, r);
}

MMADIFF_HD inline bool HasMinusZero(const Format& f) {
  return f.is_signed && f.nonfinite != Nonfinite::kNanMinusZero;
}

// Zero of either sign, if the format has both.
MMADIFF_HD inline uint64_t Zero(const Format& f, Random& r) {
  return static_cast<uint64_t>(r.Coin() && HasMinusZero(f)) << SignBit(f);
}

// `word`, with or without the bits of `sign`.
MMADIFF_HD inline void FillSigned(uint64_t word, uint64_t sign, TileWords out, int count,
                                  int stride, Random& r) {
#if !defined(MMADIFF_ON_GPU)
  if (const FillTarget* const fill = BestFill(); fill != nullptr) {
    const bool wide = (word | sign) >> 32 != 0;
    return fill->make_signed(word, sign, wide, count, &*out, stride * out.step(), r);
  }
#endif
  r.Each<uint8_t>(count,
                  [&](int i, uint64_t draw) { out[i * stride] = word | (sign & -(draw & 1)); });
}

MMADIFF_HD_CALL inline void FillZeros(const Format& f, TileWords out, int count, int stride,
                                      Random& r) {
  FillSigned(0, HasMinusZero(f) ? 1ull << SignBit(f) : 0, out, count, stride, r);
}

// Infinity, or a NaN of any payload (quiet or signaling, including ignored bits). Any number if the
// format has neither.
MMADIFF_HD_CALL inline uint64_t Special(const Format& f, Random& r) {
  const uint64_t bits = r.Bits(f.bits > 32 ? 64 : 32) & LowBits(f.bits);
  const uint64_t sign = static_cast<uint64_t>(r.Coin()) << SignBit(f);
  if (f.nonfinite == Nonfinite::kNone) return bits;
  if (f.nonfinite == Nonfinite::kNanMinusZero) return 1ull << SignBit(f);
  if (f.nonfinite == Nonfinite::kNanAllOnes) {
    return LowBits(f.exponent_bits + f.fraction_bits) | (f.is_signed ? sign : 0);
  }
  const int payload_bits = f.fraction_bits + f.ignored_bits, kind = r.Below(4);
  const uint64_t one = 1ull << r.BelowIf(kind == 1, payload_bits);
  const uint64_t payload = kind == 1 ? one : bits & LowBits(payload_bits);
  return InfinityWord(f, false) | sign | (kind == 0 ? 0 : payload);
}

// The words that FillEdges() chooses from.
struct EdgesOf {
  // A zero, the edges of the format, then random words, drawn again for each row.
  static constexpr int kZero = 0, kAny = 1 + kEdges, kWords = 16, kBehind = 16;
  uint64_t words[kWords + kBehind];
  RandomWords any;

  MMADIFF_HD explicit EdgesOf(const WordFormat& f) : any(ComposerOf(f)) {
#if defined(MMADIFF_ON_GPU)
    ComposeEdges(ComposerOf(f), words + 1);
#else
    std::copy_n(f.edges, kEdges, words + 1);
#endif
  }
};

// `count` words from the edges of a format, of either sign. Infinities and NaNs only if `specials`.
MMADIFF_HD_CALL inline void FillEdges(const WordFormat& words, EdgesOf& edges, bool specials,
                                      TileWords out, int count, Random& r) {
  const Format& f = FormatOf(words);
  edges.words[EdgesOf::kZero] = Zero(f, r);
  int any = EdgesOf::kAny;
  if (specials) edges.words[any++] = Special(f, r), edges.words[any++] = Special(f, r);
  const int left = EdgesOf::kWords - any;
#if defined(MMADIFF_ON_GPU)
  constexpr bool made = false;
#else
  const FillTarget* const fill = BestFill();
  const bool made = fill != nullptr && fill->make_any(words, left, edges.words + any, r);
#endif
  for (int i = 0; !made && i < left; ++i) edges.words[any + i] = edges.any(r);
  // The bit pattern of -0 may be a NaN.
  const uint64_t minus_zero = f.nonfinite == Nonfinite::kNanMinusZero ? 1ull << SignBit(f) : ~0ull;
  const int up = SignBit(f);
  r.Each<uint8_t>(count, [&](int i, uint64_t bits) {
    const uint64_t word = edges.words[bits % EdgesOf::kWords];
    const uint64_t negated = word ^ (bits >> 4 & 1) << up;
    out[i] = negated == minus_zero ? word : negated;
  });
}

// The same for `rows` rows of `count` words, `stride` apart. Each row has its own edges.
MMADIFF_HD_CALL inline void FillEdgeRows(const WordFormat& words, bool specials, TileWords out,
                                         int rows, int count, int stride, Random& r) {
  EdgesOf edges(words);
  for (int i = 0; i < rows; ++i) {
    FillEdges(words, edges, specials, out + i * stride, count, r);
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

// An exponent that both products and output reach, mostly far from the edges.
MMADIFF_HD_CALL inline int MiddleExponent(const TileKind& in, Random& r) {
  const Range reach = ProductRange(in);
  const int margin = std::min(8, (reach.high - reach.low) / 4);  // for formats with few exponents
  const int low = std::max(reach.low + margin, in.d->min_exponent);
  const int high = std::min(reach.high - margin, MaxExponent(*in.d) - 6);
  if (r.Coin()) return r.Between(std::max(low, -12), std::min(high, 12));
  return r.Between(low, high);
}

// The exponent that the scales of term k add to that of its products. Uses the first row and
// column; the others have the same exponent unless they were spread.
MMADIFF_HD_CALL inline int ScaleExponent(const Tile& t, int k) {
  const TileKind& in = t.instruction;
  if (in.scale == nullptr) return 0;
  const int at = t.k() + k / t.scale_block();
  return ExponentOfScale(*in.scale, t.a[at]) + ExponentOfScale(*in.scale, t.b[at]);
}

// Sets the scales of one block so their product is near 2^exponent, or, per row of A, up to
// `spread` powers of two less.
MMADIFF_HD_CALL inline void FillScales(const Tile& t, int block, int exponent, Random& r,
                                       int spread = 0) {
  const Format& f = *t.instruction.scale;
  const ExponentPair split = SplitExponent(f, f, exponent - spread / 2, r);
  const Composer compose(f);
  const auto fill = [&](TileWords out, int count, int e, int below) {
    for (int i = 0; i < count; ++i) {
      const int exponent_here = below == 0 ? e : e + below / 2 - r.Below(below + 1);
      out[i * t.stride()] = compose(false, exponent_here, r.Bits(f.fraction_bits));
    }
  };
  fill(t.a + t.k() + block, t.rows(), split.a, spread);
  fill(t.b + t.k() + block, t.columns(), split.b, 0);
}

// Sets the scales of one block, or of all, so products of elements can reach 2^exponent or come
// near. Does nothing without scales.
MMADIFF_HD inline void AimBlock(const Tile& t, int block, int exponent, Random& r) {
  const TileKind& in = t.instruction;
  FillScales(t, block, exponent - r.Between(Sum(in, Lowest), Sum(in, MaxExponent)), r);
}

MMADIFF_HD inline void Aim(const Tile& t, int exponent, Random& r) {
  for (int block = 0; block < t.scales(); ++block) AimBlock(t, block, exponent, r);
}

// Makes products of term k near 2^product, or as near as its scales allow. The fourth exponent of a
// term is one lower, so rows differ.
MMADIFF_HD_CALL inline void FillProducts(const Tile& t, int k, int product, Random& r) {
  const TileKind& in = t.instruction;
  const auto [a, b] = SplitExponent(*in.a, *in.b, product - ScaleExponent(t, k), r);
#if !defined(MMADIFF_ON_GPU)
  if (const FillTarget* const fill = BestFill(); fill != nullptr && t.columns() >= 6) {
    const int stride = t.stride() * t.a.step();
    fill->make_near(in.a_words(), a, t.rows(), &t.a[k], stride, r);
    fill->make_near(in.b_words(), b, t.columns(), &t.b[k], stride, r);
    return;
  }
#endif
  FillWords(in.a_words(), {a, a, a, a - 1}, false, t.a + k, t.rows(), t.stride(), r);
  FillWords(in.b_words(), {b, b, b, b - 1}, false, t.b + k, t.columns(), t.stride(), r);
}

// Makes products of term k exactly +-2^product, or up to `spread` powers of two less. Sign and
// exponent vary per row of A.
MMADIFF_HD_CALL inline void FillPowers(const Tile& t, int k, int product, Random& r,
                                       int spread = 0) {
  const TileKind& in = t.instruction;
  const ExponentPair split =
      SplitExponent(*in.a, *in.b, product - spread / 2 - ScaleExponent(t, k), r);
  const int stride = t.stride();
  const Composer& compose = ComposerOf(in.a_words());
  const uint64_t power_a = compose(false, split.a, 0), sign = 1ull << SignBit(*in.a);
  if (spread == 0) {
    FillSigned(power_a, sign, t.a + k, t.rows(), stride, r);
  }
  for (int i = 0; spread != 0 && i < t.rows(); ++i) {
    const uint64_t power = compose(false, split.a + spread / 2 - r.Below(spread + 1), 0);
    t.a[i * stride + k] = power | (r.Coin() ? sign : 0);
  }
  const uint64_t power_b = ComposerOf(in.b_words())(false, split.b, 0);
  for (int j = 0; j < t.columns(); ++j) t.b[j * stride + k] = power_b;
}

// Sets term k to zero in all rows of A.
MMADIFF_HD_CALL inline void ZeroRows(const Tile& t, int k, Random& r) {
  FillZeros(*t.instruction.a, t.a + k, t.rows(), t.stride(), r);
}

// Sets term y to the negative of term x.
MMADIFF_HD_CALL inline void Negate(const Tile& t, int x, int y) {
  const Format& f = *t.instruction.b;
  const uint64_t zero = f.nonfinite == Nonfinite::kNanMinusZero ? 0 : ~0ull;
  for (int i = 0; i < t.rows(); ++i) t.a[i * t.stride() + y] = t.a[i * t.stride() + x];
  for (int j = 0; j < t.columns(); ++j) {
    const uint64_t word = t.b[j * t.stride() + x];
    t.b[j * t.stride() + y] = word == zero ? word : word ^ 1ull << SignBit(f);
  }
}

// Addends with exponents from `low` to `high`.
MMADIFF_HD_CALL inline void FillAddends(const Tile& t, int high, int low, Random& r) {
  FillWords(t.instruction.c_words(),
            {high, r.Between(low, high), r.Between(low, high), r.Between(low, high)}, true, t.c,
            t.results(), 1, r);
}

}  // namespace mmadiff
