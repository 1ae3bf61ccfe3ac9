// Words of results: every number of a format back to its word, and what lies between two of them.
#include "sim/round.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <vector>

#include "sim/reference/number.h"

namespace mmadiff {
namespace {

using reference::Class;
using reference::Dyadic;
using reference::Number;

// Formats with an infinity, the only ones of results, whose patterns can all be tried: at most 19
// bits that the hardware reads (tf32).
int ReadBits(const Format& f) { return f.bits - f.ignored_bits; }

std::vector<Format> OutputFormats() {
  std::vector<Format> formats;
  for (const Format* f : kFormats) {
    if (HasInfinity(*f) && ReadBits(*f) <= 19) formats.push_back(*f);
  }
  return formats;
}

class OutputFloat : public testing::TestWithParam<Format> {
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

TEST_P(OutputFloat, DecodesAsTheReferenceReads) {
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
    ASSERT_EQ(Sign(y.value() + minus), 0) << pattern;
    ASSERT_EQ(x.exponent, y.exponent) << pattern;
  }
}

// But for an infinity of tf32_amx, which they make a NaN.
TEST_P(OutputFloat, IgnoredBitsChangeNothing) {
  const bool all_bits = f().nonfinite == Nonfinite::kIeeeAllBits;
  for (uint64_t pattern = 0; pattern < words(); ++pattern) {
    const Unpacked x = Decode(f(), Word(pattern));
    for (uint64_t ignored : {LowBits(f().ignored_bits), LowBits(f().ignored_bits) & 1}) {
      const Unpacked y = Decode(f(), Word(pattern) | ignored);
      const bool changes = all_bits && ignored != 0 && x.kind == Kind::kInfinite;
      ASSERT_EQ(y.kind, changes ? Kind::kNan : x.kind) << pattern;
      ASSERT_TRUE(x.significand == y.significand && x.exponent == y.exponent &&
                  x.negative == y.negative)
          << pattern;
    }
  }
}

TEST_P(OutputFloat, FiniteWordsSurviveReencoding) {
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
TEST_P(OutputFloat, RoundsBetweenNeighbours) {
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

TEST_P(OutputFloat, InfinityWordIsInfinite) {
  for (bool negative : {false, true}) {
    const Unpacked x = Decode(f(), InfinityWord(f(), negative));
    EXPECT_EQ(x.kind, Kind::kInfinite);
    EXPECT_EQ(x.negative, negative);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, OutputFloat, testing::ValuesIn(OutputFormats()),
                         [](const auto& info) { return std::string(info.param.name); });

// 2^16, the first number beyond f16, and 65520, which rounds up to it: by range_overflow, rounding
// direction, sign and digits.
struct OverflowVector {
  RangeOverflow rule;
  Rounding rounding;
  bool negative;
  int digits;
  uint64_t at_2_16, at_65520;
};
constexpr RangeOverflow kInfinity = RangeOverflow::kInfinity, kIeee = RangeOverflow::kIeee;
constexpr OverflowVector kOverflows[] = {
    {kInfinity, Rounding::kNearestEven, false, 10, 0x7c00, 0x7c00},
    {kInfinity, Rounding::kTowardZero, false, 10, 0x7c00, 0x7bff},
    {kInfinity, Rounding::kToOdd, true, 10, 0xfc00, 0xfbff},
    {kInfinity, Rounding::kDown, false, 10, 0x7c00, 0x7bff},
    {kInfinity, Rounding::kDown, true, 10, 0xfc00, 0xfc00},
    {kIeee, Rounding::kNearestEven, false, 10, 0x7c00, 0x7c00},
    {kIeee, Rounding::kNearestEven, true, 10, 0xfc00, 0xfc00},
    {kIeee, Rounding::kTowardZero, false, 10, 0x7bff, 0x7bff},
    {kIeee, Rounding::kTowardZero, true, 10, 0xfbff, 0xfbff},
    {kIeee, Rounding::kTowardZero, false, 5, 0x7be0, 0x7be0},
    {kIeee, Rounding::kToOdd, false, 10, 0x7bff, 0x7bff},
    {kIeee, Rounding::kToOdd, true, 4, 0xfbc0, 0xfbc0},
    {kIeee, Rounding::kDown, false, 10, 0x7bff, 0x7bff},
    {kIeee, Rounding::kDown, true, 10, 0xfc00, 0xfc00},
    {kIeee, Rounding::kUp, false, 10, 0x7c00, 0x7c00},
    {kIeee, Rounding::kUp, true, 10, 0xfbff, 0xfbff},
    {kIeee, Rounding::kUp, true, 1, 0xfa00, 0xfa00},
};

TEST(Overflow, KnownWords) {
  for (const OverflowVector& v : kOverflows) {
    SCOPED_TRACE(std::distance(std::begin(kOverflows), &v));
    const Algorithm algorithm = {.family = Family::kFusedSum,
                                 .output_rounding = v.rounding,
                                 .output_fraction_bits = v.digits,
                                 .range_overflow = v.rule};
    const auto expect = [&](uint64_t magnitude, uint64_t word) {
      bool flag = false;
      EXPECT_EQ(RoundPack<uint64_t>(kF16, algorithm, v.negative, magnitude, 0, &flag), word);
      const mpz_class value(static_cast<unsigned long>(magnitude));
      const Dyadic x = {v.negative ? mpz_class(-value) : value, 0};
      EXPECT_EQ(reference::RoundedWord(kF16, algorithm, x, &flag), word);
      EXPECT_FALSE(flag);
    };
    expect(65536, v.at_2_16);
    expect(65520, v.at_65520);
  }
}

}  // namespace
}  // namespace mmadiff
