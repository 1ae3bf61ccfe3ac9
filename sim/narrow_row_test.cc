// Narrow rows give the bits of the wide arithmetic: every word of every small format, and random
// dot products of every operation with such rows, specials and zeros of both signs among them.
#include "sim/narrow_row.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "sim/dot_product.h"
#include "sim/operation.h"
#include "sim/tree/tree_sum.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

bool IsNarrowFormat(const Format& f) {
  return !IsInteger(f) && f.bits <= 32 && f.nonfinite != Nonfinite::kIeeeAllBits;
}

void ExpectSame(const Format& f, uint32_t word) {
  const Unpacked x = Decode(f, word);
  for (const int up : {0, 5}) {
    const NarrowOperand narrow = DecodeNarrow(NarrowFormatOf(f, up), word, 0);
    const Unpacked y = NarrowRow(&narrow, up)[0];
    ASSERT_EQ(x.kind, y.kind) << f.name << " " << word;
    if (x.kind != Kind::kNan) {
      ASSERT_EQ(x.negative, y.negative) << f.name << " " << word;
    }
    if (x.kind != Kind::kFinite) continue;
    ASSERT_EQ(x.significand, y.significand) << f.name << " " << word;
    ASSERT_TRUE(x.significand == 0 || x.exponent == y.exponent) << f.name << " " << word;
    ASSERT_TRUE(x.significand == 0 ||
                DecodeNarrow(NarrowFormatOf(f, up), word, 70).exponent == narrow.exponent + 70);
  }
}

TEST(NarrowRow, DecodesAsTheWideRow) {
  for (const Format* f : kFormats) {
    if (!IsNarrowFormat(*f) || f->fraction_bits > 10) continue;
    // The bits that are read, with the others all zeros and all ones.
    const int read = f->bits - f->ignored_bits;
    for (uint64_t word = 0; word <= LowBits(read); ++word) {
      ExpectSame(*f, static_cast<uint32_t>(word << f->ignored_bits));
      ExpectSame(*f, static_cast<uint32_t>(word << f->ignored_bits | LowBits(f->ignored_bits)));
    }
  }
}

// A word that is often zero, special or the largest, else any.
uint64_t RandomWord(const Format& f, std::mt19937_64& random, int kind) {
  const uint64_t bits = random() & LowBits(f.bits);
  const uint64_t sign = f.is_signed ? bits & 1ull << SignBit(f) : 0;
  if (kind == 0 || random() % 8 != 0) {
    // Few exponents, so that terms meet.
    const uint64_t middle = random() % 4 + (1ull << (f.exponent_bits - 1)) - 3;
    const uint64_t fraction = bits & LowBits(f.fraction_bits + f.ignored_bits);
    return kind == 1 ? bits : sign | middle << (f.fraction_bits + f.ignored_bits) | fraction;
  }
  if (random() % 2 == 0) return sign;
  return HasInfinity(f) && random() % 4 != 0 ? InfinityWord(f, sign != 0) : bits;
}

TEST(NarrowRow, SumsAsTheWideRow) {
  std::mt19937_64 random(1);
  int models = 0;
  for (const Operation* op : DistinctOperations()) {
    const Model& m = op->model;
    if (m.algorithm.family != Family::kFusedSum || !HasNarrowRows(m)) continue;
    ++models;
    const int up = NarrowUp(m);
    const NarrowFormat format_a = NarrowFormatOf(m.a, up, m.algorithm.product_exponent),
                       format_b = NarrowFormatOf(m.b, 0, m.algorithm.product_exponent);
    std::vector<Unpacked> a(m.k), b(m.k);
    std::vector<NarrowOperand> narrow_a(m.k), narrow_b(m.k);
    for (int i = 0; i < 600; ++i) {
      const int kind = i % 3;
      std::vector<uint64_t> x(m.k), y(m.k);
      for (int k = 0; k < m.k; ++k) {
        x[k] = RandomWord(m.a, random, kind);
        y[k] = RandomWord(m.b, random, kind);
        a[k] = Decode(m.a, x[k]);
        b[k] = Decode(m.b, y[k]);
      }
      for (int position = 0; position < m.k; ++position) {
        const int k = GroupedK(m, position);
        narrow_a[position] = DecodeNarrow(format_a, static_cast<uint32_t>(x[k]), 0);
        narrow_b[position] = DecodeNarrow(format_b, static_cast<uint32_t>(y[k]), 0);
      }
      const uint64_t c = RandomWord(m.c, random, kind);
      NullTrace trace;
      const uint64_t wide = FusedSum<const Unpacked*>(m, a.data(), b.data(), c, trace);
      const uint64_t narrow =
          FusedSteps(m, NarrowRow(narrow_a.data(), up), NarrowRow(narrow_b.data(), 0), c, trace);
      ASSERT_EQ(narrow, wide) << op->name << " " << i;
    }
  }
  EXPECT_GT(models, 20);
}

}  // namespace
}  // namespace mmadiff
