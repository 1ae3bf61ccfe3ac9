// Boundary classes of integer instructions: sums around the limits of the accumulator.
#pragma once

#include <algorithm>

#include "fuzz/cases/tile.h"

namespace mmadiff::integer_classes {

MMADIFF_HD_CALL inline uint64_t Min(const Format& f) {
  return f.is_signed ? 1ull << SignBit(f) : 0;
}
MMADIFF_HD_CALL inline uint64_t Max(const Format& f) {
  return LowBits(f.is_signed ? f.bits - 1 : f.bits);
}

MMADIFF_HD_CALL inline uint64_t Edge(const Format& f, Random& r) {
  switch (r.Below(8)) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return LowBits(f.bits);  // -1, or the largest unsigned
    case 3:
      return Min(f);
    case 4:
      return Max(f);
    case 5:
      return (Min(f) + 1) & LowBits(f.bits);
    case 6:
      return 1ull << r.Below(f.bits);
    default:
      return r.Bits(f.bits);
  }
}

// A magnitude below 2^bits, of either sign where the format has one.
MMADIFF_HD_CALL inline uint64_t Small(const Format& f, int bits, Random& r) {
  const uint64_t magnitude = r.Bits(bits);
  return (f.is_signed && r.Coin() ? -magnitude : magnitude) & LowBits(f.bits);
}

template <class Draw>
MMADIFF_HD void FillFactors(const Tile& t, Draw draw) {
  for (int x = 0; x < t.rows() * t.k(); ++x) t.a[x] = draw(*t.instruction.a);
  for (int x = 0; x < t.columns() * t.k(); ++x) t.b[x] = draw(*t.instruction.b);
}

// Any factors, any addend at an edge of its format. One time in four whole operands are of one
// word: the largest sums, and bits that are all zeros or all ones but one.
MMADIFF_HD_CALL inline void Edges(const Tile& t, Random& r) {
  if (r.OneIn(4)) {
    const uint64_t a = Edge(*t.instruction.a, r), b = Edge(*t.instruction.b, r);
    for (int x = 0; x < t.rows() * t.k(); ++x) t.a[x] = a;
    for (int x = 0; x < t.columns() * t.k(); ++x) t.b[x] = b;
    if (r.Coin()) t.a[r.Below(t.rows()) * t.k() + r.Below(t.k())] ^= 1;
    if (r.Coin()) t.b[r.Below(t.columns()) * t.k() + r.Below(t.k())] ^= 1;
  } else {
    FillFactors(t, [&r](const Format& f) { return Edge(f, r); });
  }
  for (int e = 0; e < t.results(); ++e) t.c[e] = Edge(*t.instruction.c, r);
}

// The addend within a few products of the largest or the smallest accumulator.
MMADIFF_HD_CALL inline void Limit(const Tile& t, Random& r) {
  const int most = std::max(1, std::min(t.instruction.a->bits, t.instruction.b->bits) - 1);
  const int bits = r.Between(1, most);
  FillFactors(t, [&](const Format& f) { return Small(f, bits, r); });
  const Format& c = *t.instruction.c;
  int width = 2 * bits;  // of a sum of products
  for (int k = t.k(); k > 1; k /= 2) ++width;
  for (int e = 0; e < t.results(); ++e) {
    const uint64_t distance = r.Bits(r.Below(width + 2));
    t.c[e] = (r.Coin() ? Max(c) - distance : Min(c) + distance) & LowBits(c.bits);
  }
}

// Products that cancel between the two halves of k or between neighbours: partial sums leave the
// range although the total does not.
MMADIFF_HD_CALL inline void Cancel(const Tile& t, Random& r) {
  FillFactors(t, [&r](const Format& f) { return Edge(f, r); });
  const bool negate_a = !t.instruction.b->is_signed;
  const Format& f = negate_a ? *t.instruction.a : *t.instruction.b;
  const int distance = r.Coin() ? 1 : std::max(1, t.k() / 2);
  const auto copy = [&](Words words, int count, bool negate) {
    for (int i = 0; i < count; ++i, words += t.k()) {
      for (int k = distance; k < t.k(); ++k) {
        if (k / distance % 2 == 0) continue;
        words[k] = negate ? -words[k - distance] & LowBits(f.bits) : words[k - distance];
      }
    }
  };
  copy(t.a, t.rows(), negate_a);
  copy(t.b, t.columns(), !negate_a);
  const Format& c = *t.instruction.c;
  for (int e = 0; e < t.results(); ++e) {
    t.c[e] = r.OneIn(4) ? Edge(c, r) : r.Coin() ? Max(c) : Min(c);
  }
}

// Small numbers and zeros.
MMADIFF_HD_CALL inline void SmallNumbers(const Tile& t, Random& r) {
  const int bits = r.Below(5);
  FillFactors(t, [&](const Format& f) { return Small(f, bits, r); });
  for (int e = 0; e < t.results(); ++e) t.c[e] = Small(*t.instruction.c, 2 * bits, r);
}

// One product that is not zero, against an addend from the edges or its negative.
MMADIFF_HD_CALL inline void OneProduct(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const int x = r.Below(t.k());
  FillFactors(t, [](const Format&) { return 0; });
  for (int i = 0; i < t.rows(); ++i) t.a[i * t.k() + x] = Edge(*in.a, r);
  for (int j = 0; j < t.columns(); ++j) t.b[j * t.k() + x] = Edge(*in.b, r);
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
    {"one_product", "one product that is not zero", OneProduct},
};

}  // namespace mmadiff::integer_classes
