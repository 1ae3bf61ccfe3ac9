#include "sim/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "sim/reference/number.h"
#include "sim/round.h"

namespace mmadiff {
namespace {

using reference::Class;
using reference::Dyadic;
using reference::Number;

std::vector<Format> FormatsWhere(bool (*predicate)(const Format&)) {
  std::vector<Format> formats;
  for (const Format* f : kFormats) {
    if (predicate(*f)) formats.push_back(*f);
  }
  return formats;
}

// Bits that the hardware reads; at most 19 (tf32) in the formats tried exhaustively.
int ReadBits(const Format& f) { return f.bits - f.ignored_bits; }

class SmallFloat : public testing::TestWithParam<Format> {
 protected:
  const Format& f() const { return GetParam(); }
  uint64_t words() const { return uint64_t{1} << ReadBits(f()); }
  uint64_t Word(uint64_t pattern) const { return pattern << f().ignored_bits; }
  // Positive patterns 0 .. positive() - 1, then the negative ones.
  uint64_t positive() const { return words() / 2; }
  // Rounding that keeps all the digits of the format.
  Algorithm Full(Rounding rounding = Rounding::kNearestEven) const {
    return {.family = Family::kFusedSum,
            .output_rounding = rounding,
            .output_fraction_bits = f().fraction_bits};
  }
};

TEST_P(SmallFloat, DecodesAsTheReferenceReads) {
  for (uint64_t pattern = 0; pattern < words(); ++pattern) {
    const Unpacked x = Decode(f(), Word(pattern));
    const Number y = reference::Read(f(), Word(pattern));
    ASSERT_EQ(x.kind == Kind::kNan, y.kind == Class::kNan) << pattern;
    ASSERT_EQ(x.kind == Kind::kInfinite, y.kind == Class::kInfinity) << pattern;
    ASSERT_EQ(IsNan(f(), Word(pattern)), y.kind == Class::kNan) << pattern;
    ASSERT_EQ(x.negative, y.negative) << pattern;
    if (x.kind != Kind::kFinite) continue;
    const mpz_class significand(static_cast<unsigned long>(x.significand));
    const Dyadic minus = {x.negative ? significand : mpz_class(-significand),
                          x.exponent - f().fraction_bits};
    ASSERT_EQ(Sign(y.value + minus), 0) << pattern;
    ASSERT_EQ(x.exponent, y.exponent) << pattern;
  }
}

TEST_P(SmallFloat, IgnoredBitsChangeNothing) {
  for (uint64_t pattern = 0; pattern < words(); pattern += 7) {
    const Unpacked x = Decode(f(), Word(pattern));
    const Unpacked y = Decode(f(), Word(pattern) | LowBits(f().ignored_bits));
    ASSERT_TRUE(x.significand == y.significand && x.exponent == y.exponent &&
                x.negative == y.negative && x.kind == y.kind)
        << pattern;
  }
}

TEST_P(SmallFloat, FiniteWordsSurviveReencoding) {
  for (uint64_t pattern = 0; pattern < words(); ++pattern) {
    const Unpacked x = Decode(f(), Word(pattern));
    if (x.kind != Kind::kFinite) continue;
    for (Rounding r : {Rounding::kNearestEven, Rounding::kTowardZero, Rounding::kDown,
                       Rounding::kUp, Rounding::kToOdd}) {
      bool inexact = true;
      // Trailing zeros that the format does not need must not matter.
      const uint64_t word = RoundPack<uint64_t>(f(), Full(r), x.negative, x.significand << 5,
                                                x.exponent - f().fraction_bits - 5, &inexact);
      ASSERT_EQ(word, Word(pattern));
      ASSERT_FALSE(inexact) << pattern;
    }
  }
}

// Values between two adjacent finite numbers, 1/4, 1/2 and 3/4 of the way, in every direction.
TEST_P(SmallFloat, RoundsBetweenNeighbours) {
  for (uint64_t pattern = 0; pattern + 1 < positive(); ++pattern) {
    const Unpacked x = Decode(f(), Word(pattern));
    if (x.kind != Kind::kFinite || Decode(f(), Word(pattern + 1)).kind != Kind::kFinite) break;
    const uint64_t even = pattern % 2 == 0 ? pattern : pattern + 1;
    const uint64_t odd = pattern % 2 == 0 ? pattern + 1 : pattern;
    for (bool negative : {false, true}) {
      const uint64_t sign = negative ? positive() : 0;
      for (int quarters = 1; quarters <= 3; ++quarters) {
        const auto rounded = [&](Rounding rounding) {
          bool inexact = false;
          const uint64_t word =
              RoundPack<uint64_t>(f(), Full(rounding), negative, x.significand * 4 + quarters,
                                  x.exponent - f().fraction_bits - 2, &inexact);
          EXPECT_TRUE(inexact);
          return word;
        };
        const uint64_t nearest = quarters == 1 ? pattern : quarters == 3 ? pattern + 1 : even;
        ASSERT_EQ(rounded(Rounding::kNearestEven), Word(sign | nearest)) << pattern;
        ASSERT_EQ(rounded(Rounding::kTowardZero), Word(sign | pattern)) << pattern;
        ASSERT_EQ(rounded(Rounding::kToOdd), Word(sign | odd)) << pattern;
        ASSERT_EQ(rounded(Rounding::kUp), Word(sign | (negative ? pattern : pattern + 1)));
        ASSERT_EQ(rounded(Rounding::kDown), Word(sign | (negative ? pattern + 1 : pattern)));
      }
    }
  }
}

TEST_P(SmallFloat, PositiveWordsAscend) {
  Dyadic previous = {-1, -10000};
  int finite = 0;
  for (uint64_t pattern = 0; pattern < positive(); ++pattern) {
    const Unpacked x = Decode(f(), Word(pattern));
    if (x.kind != Kind::kFinite) continue;
    ++finite;
    const Dyadic value = {mpz_class(static_cast<unsigned long>(x.significand)),
                          x.exponent - f().fraction_bits};
    ASSERT_GT(Sign(value + Dyadic{-previous.significand, previous.exponent}), 0) << pattern;
    previous = value;
  }
  const uint64_t nonfinite =
      f().nonfinite == Nonfinite::kIeee ? uint64_t{1} << f().fraction_bits : 1;
  EXPECT_EQ(finite, positive() - nonfinite);
  EXPECT_EQ(FloorLog2(previous), MaxExponent(f()));
}

TEST_P(SmallFloat, InfinityWordIsInfinite) {
  if (f().nonfinite != Nonfinite::kIeee) return;  // has none
  for (bool negative : {false, true}) {
    const Unpacked x = Decode(f(), InfinityWord(f(), negative));
    EXPECT_EQ(x.kind, Kind::kInfinite);
    EXPECT_EQ(x.negative, negative);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallFloat, testing::ValuesIn(FormatsWhere([](const Format& f) {
                           return !IsInteger(f) && ReadBits(f) <= 19;
                         })),
                         [](const auto& info) { return std::string(info.param.name); });

// The ends of each format's range, from the documents that sim/format.h names.
struct KnownValue {
  Format format;
  uint64_t word;
  uint64_t significand;  // value = significand * 2^exponent
  int exponent;
};
constexpr KnownValue kKnownValues[] = {
    {kF64, 0x3ff0000000000000, 1, 0},
    {kF64, 0x0000000000000001, 1, -1074},
    {kF64, 0x7fefffffffffffff, (1ull << 53) - 1, 971},
    {kF32, 0x3f800000, 1, 0},
    {kF32, 0x00000001, 1, -149},
    {kF32, 0x7f7fffff, (1 << 24) - 1, 104},
    {kTf32, 0x3f801fff, 1, 0},
    {kTf32, 0x00002000, 1, -136},
    {kTf32, 0x7f7fe000, (1 << 11) - 1, 117},
    {kF16, 0x7bff, 65504, 0},
    {kF16, 0x0001, 1, -24},
    {kF16, 0x0400, 1, -14},
    {kBf16, 0x3f80, 1, 0},
    {kBf16, 0x0001, 1, -133},
    {kBf16, 0x7f7f, 255, 120},
    {kE4m3, 0x7e, 448, 0},
    {kE4m3, 0x01, 1, -9},
    {kE4m3, 0x38, 1, 0},
    {kE5m2, 0x7b, 57344, 0},
    {kE5m2, 0x01, 1, -16},
    {kE5m2, 0x3c, 1, 0},
};

TEST(Format, KnownValues) {
  for (const KnownValue& known : kKnownValues) {
    const Unpacked x = Decode(known.format, known.word);
    const Dyadic value = {mpz_class(static_cast<unsigned long>(x.significand)),
                          x.exponent - known.format.fraction_bits};
    const Dyadic minus = {-mpz_class(static_cast<unsigned long>(known.significand)),
                          known.exponent};
    EXPECT_EQ(Sign(value + minus), 0) << known.format.name << " " << std::hex << known.word;
    EXPECT_EQ(x.kind, Kind::kFinite);
  }
}

TEST(Format, KnownNans) {
  EXPECT_TRUE(IsNan(kE4m3, 0x7f));
  EXPECT_TRUE(IsNan(kE4m3, 0xff));
  EXPECT_FALSE(IsNan(kE4m3, 0x7e));
  EXPECT_TRUE(IsNan(kE5m2, 0x7d));
  EXPECT_FALSE(IsNan(kE5m2, 0x7c));
  EXPECT_TRUE(IsNan(kTf32, 0x7f802000));
  EXPECT_FALSE(IsNan(kTf32, 0x7f801fff));  // the payload lies in ignored bits: infinity
  EXPECT_TRUE(IsNan(kF64, 0x7ff0000000000001));
  EXPECT_FALSE(IsNan(kS8, 0x7f));
}

TEST(Format, RowsAreConsistent) {
  for (const Format* f : kFormats) {
    SCOPED_TRACE(f->name);
    if (IsInteger(*f)) {
      EXPECT_EQ(f->nonfinite, Nonfinite::kNone);
      continue;
    }
    EXPECT_TRUE(f->is_signed);
    EXPECT_EQ(f->bits, 1 + f->exponent_bits + f->fraction_bits + f->ignored_bits);
    EXPECT_EQ(f->min_exponent, 2 - (1 << (f->exponent_bits - 1)));  // IEEE bias
    EXPECT_EQ(HexDigits(*f) * 4, f->bits);
  }
}

TEST(Format, Integers) {
  for (int value = -32768; value <= 65535; ++value) {
    const uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(value));
    // Bits above the word are dropped.
    EXPECT_EQ(DecodeInteger(kS8, bits), static_cast<int8_t>(value));
    EXPECT_EQ(DecodeInteger(kU8, bits), static_cast<uint8_t>(value));
    EXPECT_EQ(DecodeInteger(kS16, bits), static_cast<int16_t>(value));
  }
  EXPECT_EQ(DecodeInteger(kS32, 0x80000000), -2147483648ll);
  EXPECT_EQ(DecodeInteger(kS32, 0x7fffffff), 2147483647);
}

}  // namespace
}  // namespace mmadiff
