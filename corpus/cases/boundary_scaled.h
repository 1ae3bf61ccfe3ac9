// Boundary classes of block-scaled instructions, in addition to the floating-point classes: groups
// of products that are close together or far apart, cancel, vanish, or have scales from the edges
// of their format.
#pragma once

#include <algorithm>

#include "corpus/cases/operands.h"

namespace mmadiff::scaled_classes {

// Number of products that are added before they are scaled: 16, and at most as many as share a
// scale. Half of a block of 32 is also a group. Operations with fewer products have no group.
inline constexpr int kGroup = 16;

MMADIFF_HD_CALL inline int Groups(const Tile& t) { return t.k() / kGroup; }
MMADIFF_HD_CALL inline int BlockOf(const Tile& t, int group) {
  return group * kGroup / t.scale_block();
}

// Finite elements of any exponent.
MMADIFF_HD_CALL inline void FillElements(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  FillEdgeRows(in.a_words(), false, t.a, t.rows(), t.k(), t.stride(), r);
  FillEdgeRows(in.b_words(), false, t.b, t.columns(), t.k(), t.stride(), r);
}

MMADIFF_HD_CALL inline void ZeroGroup(const Tile& t, int group, Random& r) {
  for (int k = group * kGroup; k < (group + 1) * kGroup; ++k) ZeroRows(t, k, r);
}

// Keeps one element of a group: its product is the smallest product, or any power of two.
MMADIFF_HD_CALL inline void ThinGroup(const Tile& t, int group, Random& r) {
  const int low = Lowest(*t.instruction.a) + Lowest(*t.instruction.b);
  ZeroGroup(t, group, r);
  const int k = group * kGroup + r.Below(kGroup);
  FillPowers(t, k, ScaleExponent(t, k) + (r.Coin() ? low : r.Between(low, 2)), r);
}

// Block scales from a band of width 0 to 60, with the addend in the band: values that alignment
// loses.
MMADIFF_HD_CALL inline void Scales(const Tile& t, Random& r) {
  const int top = MiddleExponent(t.instruction, r);
  const int width = r.Below(r.Coin() ? 6 : 61);
  FillElements(t, r);
  for (int block = 0; block < t.scales(); ++block) {
    FillScales(t, block, top - r.Below(width + 1), r);
  }
  for (int group = 0; group < Groups(t); ++group) {
    if (r.OneIn(3)) ThinGroup(t, group, r);
  }
  FillAddends(t, top + 8, top - width - 8, r);
}

// A power of two in one group, and small values of either sign 0 to 45 bits below in the others:
// the last bits that are kept.
MMADIFF_HD_CALL inline void LastBits(const Tile& t, Random& r) {
  if (Groups(t) == 0) return Scales(t, r);
  const TileKind& in = t.instruction;
  const int top = r.Coin() ? Lowest(*in.d) + r.Between(-2, 6) : MiddleExponent(in, r);
  for (int block = 0; block < t.scales(); ++block) FillScales(t, block, top - 5, r, 40);
  const int leads = r.Below(Groups(t));
  AimBlock(t, BlockOf(t, leads), top, r);
  FillElements(t, r);
  for (int group = 0; group < Groups(t); ++group) ThinGroup(t, group, r);
  FillPowers(t, leads * kGroup + r.Below(kGroup), top, r);
  r.Coin() ? FillZeros(*in.c, t.c, t.results(), 1, r) : FillAddends(t, top - 20, top - 45, r);
}

// Sums of many products around the smallest output: the carries of bits that a floor would cut.
// Where elements have few exponents, these sums need only positive products: some large ones and
// many of the smallest.
MMADIFF_HD_CALL inline void SmallSums(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const int low = Lowest(*in.a) + Lowest(*in.b), high = MaxExponent(*in.a) + MaxExponent(*in.b);
  for (int block = 0; block < t.scales(); ++block) {
    FillScales(t, block, Lowest(*in.d) - low + 2, r, 16);
  }
  FillElements(t, r);
  FillZeros(*in.c, t.c, t.results(), 1, r);
  if (r.OneIn(4)) return;
  const uint64_t a = LowBits(in.a->bits - 1), b = LowBits(in.b->bits - 1);
  for (int k = 0; k < t.k(); ++k) {
    const int scales = ScaleExponent(t, k), kind = r.Below(4);
    if (kind < 2) FillProducts(t, k, scales + (kind == 0 ? low : high), r);
    for (int i = 0; i < t.rows(); ++i) t.a[i * t.stride() + k] &= a;
    for (int j = 0; j < t.columns(); ++j) t.b[j * t.stride() + k] &= b;
  }
}

// A group against the negative of a different group, under equal scales. The rest is 20 to 45 bits
// below.
MMADIFF_HD_CALL inline void GroupsCancel(const Tile& t, Random& r) {
  if (Groups(t) == 0) return Scales(t, r);
  const int top = MiddleExponent(t.instruction, r);
  const int low = top - r.Between(20, 45);
  FillElements(t, r);
  const int x = r.Below(Groups(t)), y = (x + 1 + r.Below(std::max(1, Groups(t) - 1))) % Groups(t);
  for (int block = 0; block < t.scales(); ++block) FillScales(t, block, low - r.Below(4), r);
  const int from = t.k() + BlockOf(t, x), to = t.k() + BlockOf(t, y);
  FillScales(t, BlockOf(t, x), top, r);
  for (int i = 0; i < t.rows(); ++i) t.a[i * t.stride() + to] = t.a[i * t.stride() + from];
  for (int j = 0; j < t.columns(); ++j) t.b[j * t.stride() + to] = t.b[j * t.stride() + from];
  for (int k = 0; k < kGroup && x != y; ++k) Negate(t, x * kGroup + k, y * kGroup + k);
  r.OneIn(3) ? FillZeros(*t.instruction.c, t.c, t.results(), 1, r)
             : FillAddends(t, low + 4, low - 8, r);
}

// A group of zeros, or one that sums to zero, with the largest scales. The others are far below.
MMADIFF_HD_CALL inline void ZeroGroups(const Tile& t, Random& r) {
  if (Groups(t) == 0) return Scales(t, r);
  const int top = MiddleExponent(t.instruction, r);
  const int low = top - r.Between(20, 45);
  FillElements(t, r);
  const int group = r.Below(Groups(t));
  for (int block = 0; block < t.scales(); ++block) FillScales(t, block, low - r.Below(4), r);
  FillScales(t, BlockOf(t, group), top, r);
  // A neighbor group under the same scales must not dominate.
  for (int g = 0; g < Groups(t); ++g) {
    if (g != group && BlockOf(t, g) == BlockOf(t, group) && !r.OneIn(4)) ZeroGroup(t, g, r);
  }
  ZeroGroup(t, group, r);
  if (r.Coin()) {
    const int k = group * kGroup + r.Below(kGroup - 1);
    FillPowers(t, k, top, r);
    Negate(t, k, k + 1);
  }
  r.Coin() ? FillZeros(*t.instruction.c, t.c, t.results(), 1, r)
           : FillAddends(t, low + 4, low - 8, r);
}

// Scale codes from the edges of their format: zero, smallest, one, largest, NaN.
MMADIFF_HD_CALL inline void ScaleEdges(const Tile& t, Random& r) {
  const Format& f = *t.instruction.scale;
  const bool nan = r.OneIn(4);
  const uint64_t one = Compose(f, false, 0, 0), largest = MaxFiniteWord(f);
  const uint64_t edges[8] = {0,
                             1,
                             one,
                             one - 1,
                             largest,
                             largest - 1,
                             nan ? Special(f, r) : one + 1,
                             r.Bits(FieldBits(f) - 1)};
  const auto fill = [&](TileWords rows, int count) {
    for (int i = 0; i < count; ++i) {
      for (int s = 0; s < t.scales(); ++s) {
        rows[i * t.stride() + t.k() + s] = edges[r.OneIn(4) ? r.Below(8) : 2 + r.Below(2)];
      }
    }
  };
  FillElements(t, r);
  fill(t.a, t.rows());
  fill(t.b, t.columns());
  for (int group = 0; group < Groups(t); ++group) {
    if (r.OneIn(3)) ZeroGroup(t, group, r);
  }
  FillEdgeRows(t.instruction.c_words(), nan, t.c, 1, t.results(), 0, r);
}

// NaN, zero and largest scales: in rows, in columns, over infinities, over zeros alone, with
// infinite addends.
MMADIFF_HD_CALL inline void ScaleSpecials(const Tile& t, Random& r) {
  const TileKind& in = t.instruction;
  const Format& f = *in.scale;
  const int block = r.Below(t.scales()), k = block * t.scale_block() + r.Below(t.scale_block());
  const bool zeros = r.Coin();
  Aim(t, MiddleExponent(in, r), r);
  FillElements(t, r);
  const auto plant = [&](const Format& element, TileWords row, int count, int one_in) {
    for (int i = 0; i < count; ++i, row += t.stride()) {
      const uint64_t codes[4] = {Special(f, r), Special(f, r), 0, MaxFiniteWord(f)};
      const uint64_t code = codes[r.Below(4)];
      row[t.k() + block] = r.OneIn(one_in) ? code : row[t.k() + block];
      if (HasInfinity(element) && r.OneIn(4)) row[k] = InfinityWord(element, r.Coin());
    }
  };
  plant(*in.a, t.a, t.rows(), 2);
  plant(*in.b, t.b, t.columns(), 3);
  for (int group = 0; zeros && group < Groups(t); ++group) ZeroGroup(t, group, r);
  FillEdgeRows(in.c_words(), false, t.c, 1, t.results(), 0, r);
  for (int e = 0; e < t.results(); ++e) {
    const uint64_t infinity = InfinityWord(*in.c, r.Coin());
    t.c[e] = r.OneIn(3) ? infinity : t.c[e];
  }
}

// Scale bits to which no manual gives a meaning. No other class sets these bits: if the hardware
// reads one of them, the difference would hide all others.
MMADIFF_HD_CALL inline void ScaleUnreadBits(const Tile& t, Random& r) {
  const Format& f = *t.instruction.scale;
  Scales(t, r);
  const auto set = [&](TileWords row, int count) {
    for (int i = 0; i < count; ++i, row += t.stride()) {
      for (int s = 0; s < t.scales(); ++s) {
        row[t.k() + s] |= r.Bits(f.bits - FieldBits(f)) << FieldBits(f);
      }
    }
  };
  set(t.a, t.rows());
  set(t.b, t.columns());
}

inline constexpr InputClass kClasses[] = {
    {"scales", "block scales from a band of 0 to 60 bits", Scales},
    {"last_bits", "a power of two in one group, values near the last kept bits in the others",
     LastBits},
    {"small_sums", "sums of many products around the smallest output", SmallSums},
    {"groups_cancel", "groups that cancel under equal scales", GroupsCancel},
    {"zero_groups", "groups of zeros or summing to zero, under huge scales", ZeroGroups},
    {"scale_edges", "scale codes from the edges of their format", ScaleEdges},
    {"scale_specials", "NaN, zero and largest scales beside specials and zeros", ScaleSpecials},
    {"unread_bits", "scales with bits that have no defined meaning", ScaleUnreadBits},
};

}  // namespace mmadiff::scaled_classes
