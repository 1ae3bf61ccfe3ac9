// Boundary classes of integer instructions: sums around the limits of the accumulator.
#pragma once

#include <algorithm>

#include "corpus/cases/tile.h"

namespace mmadiff::integer_classes {

MMADIFF_HD_CALL inline uint64_t Min(const Format& f) {
  return f.is_signed ? 1ull << SignBit(f) : 0;
}
MMADIFF_HD_CALL inline uint64_t Max(const Format& f) {
  return LowBits(f.is_signed ? f.bits - 1 : f.bits);
}

// Six edges of a format, a power of two and any word, equally likely. No branches on drawn data.
class EdgeWords {
 public:
  MMADIFF_HD explicit EdgeWords(const Format& f)
      : bits_(f.bits), words_{0,      1,      LowBits(f.bits) /* -1, or the largest unsigned */,
                              Min(f), Max(f), (Min(f) + 1) & LowBits(f.bits)} {}

  MMADIFF_HD uint64_t operator()(Random& r) {
    const int which = r.Below(8);
    return Word(which, r.Bits32(MoreBits(which)));
  }
  // Additional bits to draw for word number 0 to 7.
  MMADIFF_HD int MoreBits(int which) const { return which < 6 ? 0 : which == 6 ? 16 : bits_; }
  // The word, made of the low bits of `more`; higher bits are ignored.
  MMADIFF_HD uint64_t Word(int which, uint32_t more) {
    words_[6] = 1ull << Random::BelowOf(more & 0xffff, bits_);
    words_[7] = more & LowBits(bits_);
    return words_[which];
  }
  // The same from the bytes of both draws. `bytes` returns their number.
  MMADIFF_HD uint64_t OfBytes(uint64_t eight, int& bytes) {
    const int which = Random::BelowOf(eight & 0xffff, 8);
    bytes = 2 + (MoreBits(which) + 7) / 8;
    return Word(which, static_cast<uint32_t>(eight >> 16));
  }

 private:
  const int bits_;
  uint64_t words_[8];
};

// `count` words, `stride` apart.
MMADIFF_HD_CALL inline void FillEdges(const Format& f, TileWords out, int count, int stride,
                                      Random& r) {
  EdgeWords edges(f);
  const auto use = [&](int i, uint64_t eight) {
    int bytes;
    out[i * stride] = edges.OfBytes(eight, bytes);
    return bytes;
  };
  r.EachByBytes(count, 2, use, [&](int i) { out[i * stride] = edges(r); });
}

MMADIFF_HD_CALL inline uint64_t Edge(const Format& f, Random& r) { return EdgeWords(f)(r); }

// A magnitude below 2^bits, from two draws. Either sign if the format is signed.
MMADIFF_HD inline uint64_t SmallOf(const Format& f, uint64_t magnitude, bool negative) {
  const uint64_t sign = -static_cast<uint64_t>(negative);
  return ((magnitude ^ sign) - sign) & LowBits(f.bits);
}
MMADIFF_HD_CALL inline uint64_t Small(const Format& f, int bits, Random& r) {
  const uint64_t magnitude = r.Bits(bits);
  return SmallOf(f, magnitude, f.is_signed && r.Coin());
}
MMADIFF_HD_CALL inline void FillSmall(const Format& f, int bits, TileWords out, int count,
                                      Random& r) {
  const int bytes = (bits + 7) / 8, all = bytes + f.is_signed;
  const auto use = [&](int i, uint64_t eight) {
    out[i] = SmallOf(f, eight & LowBits(bits), f.is_signed && (eight >> 8 * bytes & 1) != 0);
    return all;
  };
  r.EachByBytes(count, bytes, use, [&](int i) { out[i] = Small(f, bits, r); });
}

MMADIFF_HD inline void FillSmallFactors(const Tile& t, int bits, Random& r) {
  FillSmall(*t.instruction.a, bits, t.a, t.rows() * t.k(), r);
  FillSmall(*t.instruction.b, bits, t.b, t.columns() * t.k(), r);
}

MMADIFF_HD inline void FillFactorEdges(const Tile& t, Random& r) {
  FillEdges(*t.instruction.a, t.a, t.rows() * t.k(), 1, r);
  FillEdges(*t.instruction.b, t.b, t.columns() * t.k(), 1, r);
}

// Factors and addends from the edges of their formats. One time in four, all elements of A are one
// word, and so are those of B: the largest sums, and bits that are all zeros or all ones except
// one.
MMADIFF_HD_CALL inline void Edges(const Tile& t, Random& r) {
  if (r.OneIn(4)) {
    const uint64_t a = Edge(*t.instruction.a, r), b = Edge(*t.instruction.b, r);
    for (int x = 0; x < t.rows() * t.k(); ++x) t.a[x] = a;
    for (int x = 0; x < t.columns() * t.k(); ++x) t.b[x] = b;
    if (r.Coin()) t.a[r.Below(t.rows()) * t.k() + r.Below(t.k())] ^= 1;
    if (r.Coin()) t.b[r.Below(t.columns()) * t.k() + r.Below(t.k())] ^= 1;
  } else {
    FillFactorEdges(t, r);
  }
  FillEdges(*t.instruction.c, t.c, t.results(), 1, r);
}

// The addend is within a few products of the largest or smallest accumulator value.
MMADIFF_HD_CALL inline void Limit(const Tile& t, Random& r) {
  const int most = std::max(1, std::min(t.instruction.a->bits, t.instruction.b->bits) - 1);
  const int bits = r.Between(1, most);
  FillSmallFactors(t, bits, r);
  const Format& c = *t.instruction.c;
  int width = 2 * bits;  // width of a sum of products
  for (int k = t.k(); k > 1; k /= 2) ++width;
  for (int e = 0; e < t.results(); ++e) {
    const uint64_t distance = r.Bits(r.Below(width + 2));
    const uint64_t below = -static_cast<uint64_t>(r.Coin());  // ~0: below the largest
    t.c[e] = ((below & Max(c)) | (~below & Min(c))) + ((distance ^ below) - below);
    t.c[e] &= LowBits(c.bits);
  }
}

// Products that cancel between the two halves of k or between neighbors: partial sums leave the
// range although the total does not.
MMADIFF_HD_CALL inline void Cancel(const Tile& t, Random& r) {
  FillFactorEdges(t, r);
  const bool negate_a = !t.instruction.b->is_signed;
  const Format& f = negate_a ? *t.instruction.a : *t.instruction.b;
  const int distance = r.Coin() ? 1 : std::max(1, t.k() / 2);
  const auto copy = [&](TileWords words, int count, bool negate) {
    for (int i = 0; i < count; ++i, words += t.k()) {
      for (int first = distance; first < t.k(); first += 2 * distance) {
        for (int k = first; k < std::min(first + distance, t.k()); ++k) {
          words[k] = negate ? -words[k - distance] & LowBits(f.bits) : words[k - distance];
        }
      }
    }
  };
  copy(t.a, t.rows(), negate_a);
  copy(t.b, t.columns(), !negate_a);
  const Format& c = *t.instruction.c;
  EdgeWords edges(c);
  const uint64_t limits[2] = {Min(c), Max(c)};
  const auto use = [&](int e, uint64_t eight) {
    int bytes;
    const uint64_t edge = edges.OfBytes(eight >> 16, bytes);
    const bool is_edge = Random::BelowOf(eight & 0xffff, 4) == 0;
    t.c[e] = is_edge ? edge : limits[eight >> 16 & 1];
    return 2 + (is_edge ? bytes : 1);
  };
  const auto one = [&](int e) { t.c[e] = r.OneIn(4) ? edges(r) : limits[r.Coin()]; };
  r.EachByBytes(t.results(), 4, use, one);
}

// Small numbers and zeros.
MMADIFF_HD_CALL inline void SmallNumbers(const Tile& t, Random& r) {
  const int bits = r.Below(5);
  FillSmallFactors(t, bits, r);
  FillSmall(*t.instruction.c, 2 * bits, t.c, t.results(), r);
}

// One nonzero product, against an addend from the edges or its negative.
MMADIFF_HD_CALL inline void OneProduct(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const int x = r.Below(t.k());
  for (int i = 0; i < t.rows() * t.k(); ++i) t.a[i] = 0;
  for (int i = 0; i < t.columns() * t.k(); ++i) t.b[i] = 0;
  FillEdges(*in.a, t.a + x, t.rows(), t.k(), r);
  FillEdges(*in.b, t.b + x, t.columns(), t.k(), r);
  for (int e = 0; e < t.results(); ++e) {
    const int row = e / in.shape.n, column = row / in.shape.m * in.shape.n + e % in.shape.n;
    const int64_t product =
        DecodeInteger(*in.a, t.a[row * t.k() + x]) * DecodeInteger(*in.b, t.b[column * t.k() + x]);
    const uint64_t edge = Edge(*in.c, r);
    t.c[e] = r.Coin() ? edge : static_cast<uint64_t>(-product) & LowBits(in.c->bits);
  }
}

inline constexpr InputClass kClasses[] = {
    {"edges", "every operand from the edges of its format", Edges},
    {"limit", "sums around the accumulator's limits", Limit},
    {"cancel", "products that cancel in pairs", Cancel},
    {"small", "small numbers and zeros", SmallNumbers},
    {"one_product", "a single nonzero product", OneProduct},
};

}  // namespace mmadiff::integer_classes
