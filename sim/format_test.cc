#include "sim/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "sim/reference/number.h"

namespace mmadiff {
namespace {

using reference::Class;
using reference::Dyadic;
using reference::Number;

// Patterns first .. last.
struct Range {
  uint64_t first, last;
};

// A floating-point format as its document states it, every pattern of at most 16 bits: sign in the
// top bit, then `exponent_bits`, then `fraction_bits`.
struct Statement {
  Format format;
  int exponent_bits, fraction_bits, bias;
  std::vector<uint64_t> infinities;
  std::vector<Range> nans;
  bool has_sign = true;
  bool has_zero = true;
};

std::vector<Statement> Statements() {
  return {
      {kF16, 5, 10, 15, {0x7c00, 0xfc00}, {{0x7c01, 0x7fff}, {0xfc01, 0xffff}}},
      {kBf16, 8, 7, 127, {0x7f80, 0xff80}, {{0x7f81, 0x7fff}, {0xff81, 0xffff}}},
      {kE4m3, 4, 3, 7, {}, {{0x7f, 0x7f}, {0xff, 0xff}}},
      {kE5m2, 5, 2, 15, {0x7c, 0xfc}, {{0x7d, 0x7f}, {0xfd, 0xff}}},
      {kE4m3fnuz, 4, 3, 8, {}, {{0x80, 0x80}}},
      {kE5m2fnuz, 5, 2, 16, {}, {{0x80, 0x80}}},
      {kE2m3, 2, 3, 1, {}, {}},
      {kE3m2, 3, 2, 3, {}, {}},
      {kE2m1, 2, 1, 1, {}, {}},
      {kUe8m0, 8, 0, 127, {}, {{0xff, 0xff}}, false, false},
      {kUe4m3, 4, 3, 7, {}, {{0x7f, 0x7f}, {0xff, 0xff}}, false},
  };
}

class SmallFloat : public testing::TestWithParam<Statement> {
 protected:
  const Format& f() const { return GetParam().format; }
  uint64_t words() const { return uint64_t{1} << f().bits; }
  bool negative(uint64_t word) const { return GetParam().has_sign && word >= words() / 2; }
  uint64_t magnitude(uint64_t word) const {
    return word % (uint64_t{1} << (GetParam().exponent_bits + GetParam().fraction_bits));
  }

  Kind ExpectedKind(uint64_t word) const {
    if (std::ranges::count(GetParam().infinities, word) > 0) return Kind::kInfinite;
    const bool nan = std::ranges::any_of(
        GetParam().nans, [&](const Range& r) { return r.first <= word && word <= r.last; });
    return nan ? Kind::kNan : Kind::kFinite;
  }

  // The value of a finite word: doubles hold those of all small formats exactly.
  double ExpectedValue(uint64_t word) const {
    const Statement& s = GetParam();
    const double ulps = std::ldexp(1.0, s.fraction_bits);
    const int field = static_cast<int>(magnitude(word) / static_cast<uint64_t>(ulps));
    const double fraction = std::fmod(static_cast<double>(magnitude(word)), ulps) / ulps;
    const double value = field == 0 && s.has_zero ? std::ldexp(fraction, 1 - s.bias)
                                                  : std::ldexp(1 + fraction, field - s.bias);
    return negative(word) ? -value : value;
  }
};

TEST_P(SmallFloat, DecodesAsStated) {
  for (uint64_t word = 0; word < words(); ++word) {
    const Unpacked x = Decode(f(), word);
    ASSERT_EQ(x.kind, ExpectedKind(word)) << word;
    ASSERT_EQ(IsNan(f(), word), x.kind == Kind::kNan) << word;
    ASSERT_EQ(x.negative, negative(word)) << word;
    if (x.kind != Kind::kFinite) continue;
    const double value = std::ldexp(x.significand, x.exponent - f().fraction_bits);
    ASSERT_EQ(x.negative ? -value : value, ExpectedValue(word)) << word;
    // Normal numbers have their leading one; zeros and subnormals the exponent of the least normal.
    const bool normal = x.significand >> f().fraction_bits != 0;
    ASSERT_TRUE(normal || x.exponent == 1 - GetParam().bias) << word;
  }
}

TEST_P(SmallFloat, ReferenceReadsAsStated) {
  for (uint64_t word = 0; word < words(); ++word) {
    const Number x = reference::Read(f(), word);
    const Kind kind = ExpectedKind(word);
    ASSERT_EQ(x.kind == Class::kNan, kind == Kind::kNan) << word;
    ASSERT_EQ(x.kind == Class::kInfinity, kind == Kind::kInfinite) << word;
    ASSERT_EQ(x.negative, negative(word)) << word;
    if (kind != Kind::kFinite) continue;
    const double value = ExpectedValue(word);
    ASSERT_EQ(std::ldexp(x.value().significand.get_d(), static_cast<int>(x.value().exponent)),
              value);
    ASSERT_EQ(x.kind == Class::kZero, value == 0) << word;
    const double least_normal = std::ldexp(1.0, 1 - GetParam().bias);
    const bool subnormal = GetParam().has_zero && value != 0 && std::abs(value) < least_normal;
    ASSERT_EQ(x.kind == Class::kSubnormal, subnormal) << word;
  }
}

// Numbers ascend as integers of sign and magnitude do.
TEST_P(SmallFloat, WordsAreOrderedBySignAndMagnitude) {
  std::map<int64_t, std::set<double>> values;  // by sign and magnitude; both zeros are 0
  for (uint64_t word = 0; word < words(); ++word) {
    if (ExpectedKind(word) != Kind::kFinite) continue;
    const Unpacked x = Decode(f(), word);
    const double value = std::ldexp(x.significand, x.exponent - f().fraction_bits);
    const int64_t order = static_cast<int64_t>(magnitude(word));
    values[negative(word) ? -order : order].insert(x.negative ? -value : value);
  }
  double previous = -INFINITY;
  for (const auto& [order, same] : values) {
    ASSERT_EQ(same.size(), 1) << order;
    ASSERT_GT(*same.begin(), previous) << order;
    previous = *same.begin();
  }
  EXPECT_EQ(std::ilogb(previous), MaxExponent(f()));
  EXPECT_EQ(values.rbegin()->first, MaxFiniteWord(f()));
}

// The word is the only one, but for a bit that is not read, that the reference reads as its number
// and sign.
TEST_P(SmallFloat, EncodesBackToTheOnlyWord) {
  std::map<std::pair<double, bool>, std::set<uint64_t>> words_of;
  for (uint64_t word = 0; word < words(); ++word) {
    const Number x = reference::Read(f(), word);
    if (x.kind == Class::kNan || x.kind == Class::kInfinity) continue;
    const double value =
        std::ldexp(x.value().significand.get_d(), static_cast<int>(x.value().exponent));
    words_of[{value, x.negative}].insert(word);
  }
  for (uint64_t word = 0; word < words(); ++word) {
    if (ExpectedKind(word) != Kind::kFinite) continue;
    const std::set<uint64_t>& same = words_of[{ExpectedValue(word), negative(word)}];
    std::set<uint64_t> expected = {word};
    if (f().bits > GetParam().has_sign + GetParam().exponent_bits + GetParam().fraction_bits) {
      expected.insert(word ^ words() / 2);
    }
    ASSERT_EQ(same, expected) << word;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallFloat, testing::ValuesIn(Statements()),
                         [](const auto& info) { return std::string(info.param.format.name); });

TEST(Format, EverySmallFloatIsStated) {
  for (const Format* f : kFormats) {
    if (IsInteger(*f) || f->bits > 16) continue;
    EXPECT_TRUE(std::ranges::any_of(Statements(), [&](const Statement& s) {
      return std::string(s.format.name) == f->name;
    })) << f->name;
  }
}

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
    {kTf32Amx, 0x3f801fff, 1, 0},
    {kE4m3fnuz, 0x7f, 240, 0},
    {kE4m3fnuz, 0x01, 1, -10},
    {kE4m3fnuz, 0x40, 1, 0},
    {kE5m2fnuz, 0x7f, 57344, 0},
    {kE5m2fnuz, 0x01, 1, -17},
    {kE5m2fnuz, 0x40, 1, 0},
    {kE2m3, 0x1f, 15, -1},
    {kE2m3, 0x01, 1, -3},
    {kE3m2, 0x1f, 28, 0},
    {kE3m2, 0x01, 1, -4},
    {kE2m1, 0x7, 6, 0},
    {kE2m1, 0x1, 1, -1},
    {kUe8m0, 0x00, 1, -127},
    {kUe8m0, 0x7f, 1, 0},
    {kUe8m0, 0xfe, 1, 127},
    {kUe4m3, 0x7e, 448, 0},
    {kUe4m3, 0xfe, 448, 0},
    {kUe4m3, 0x81, 1, -9},
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
  EXPECT_TRUE(IsNan(kTf32Amx, 0x7f800001));
  EXPECT_FALSE(IsNan(kTf32Amx, 0x7f800000));
  EXPECT_TRUE(IsNan(kF64, 0x7ff0000000000001));
  EXPECT_FALSE(IsNan(kS8, 0x7f));
}

TEST(Format, OperationsAreConsistent) {
  for (const Format* f : kFormats) {
    SCOPED_TRACE(f->name);
    EXPECT_EQ(HexDigits(*f), (f->bits + 7) / 8 * 2);
    if (IsInteger(*f)) {
      EXPECT_EQ(f->nonfinite, Nonfinite::kNone);
      continue;
    }
    const bool unread_sign = std::string(f->name) == "ue4m3";
    EXPECT_EQ(f->bits, (f->is_signed || unread_sign) + f->exponent_bits + f->fraction_bits +
                           f->ignored_bits);
    // IEEE bias, but one more where the pattern of -0 is NaN.
    const int bias_excess = f->nonfinite == Nonfinite::kNanMinusZero;
    EXPECT_EQ(f->min_exponent, 2 - (1 << (f->exponent_bits - 1)) - bias_excess);
    EXPECT_EQ(f->has_zero, std::string(f->name) != "ue8m0");
  }
}

// Every pattern of at most 16 bits; those of 32 at the ends.
TEST(Format, Integers) {
  for (const Format* f : kFormats) {
    if (!IsInteger(*f) || f->bits > 16) continue;
    const int64_t count = int64_t{1} << f->bits;
    for (int64_t word = 0; word < count; ++word) {
      const int64_t value = f->is_signed && word >= count / 2 ? word - count : word;
      ASSERT_EQ(DecodeInteger(*f, word), value) << f->name;
      // Bits above the word are dropped.
      ASSERT_EQ(DecodeInteger(*f, word + 5 * count), value) << f->name;
    }
  }
  EXPECT_EQ(DecodeInteger(kS32, 0x80000000), -2147483648ll);
  EXPECT_EQ(DecodeInteger(kS32, 0x7fffffff), 2147483647);
}

}  // namespace
}  // namespace mmadiff
