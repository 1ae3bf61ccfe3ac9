// What is printed is read as it was; what a format cannot hold is refused with its neighbours.
#include "triage/parse_number.h"

#include <cmath>
#include <cstdlib>
#include <random>

#include "gtest/gtest.h"
#include "sim/word.h"
#include "triage/number_text.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

std::string Error(const Format& f, const char* text) {
  const auto word = ParseNumber(f, text);
  return word.ok() ? "none" : std::string(word.status().message());
}

void RoundTrip(const Format& f, uint64_t word) {
  const Value v = DecodeValue(f, word);
  const std::string text = NumberText(f, word), hex = HexFloat(f, word);
  if (IsInteger(f)) {
    EXPECT_EQ(ParseNumber(f, text).value(), word) << text;
    return;
  }
  if (v.kind == Value::Class::kNan) return;  // signs and quiet bits are not in the text
  uint64_t same = 0;
  ASSERT_TRUE(EncodeValue(f, v, &same));  // without ignored bits
  if (!text.starts_with('~')) {
    EXPECT_EQ(ParseNumber(f, text).value(), same) << f.name << " " << text;
  }
  EXPECT_EQ(ParseNumber(f, hex).value(), same) << f.name << " " << hex;
}

TEST(ParseNumberTest, WhatIsPrinted) {
  std::mt19937_64 random(1);
  for (const Format* f : kFormats) {
    const uint64_t all = f->bits <= 16 ? 1ull << f->bits : 20000;
    for (uint64_t i = 0; i < all; ++i) {
      const uint64_t word = f->bits <= 16 ? i : random() & LowBits(f->bits);
      RoundTrip(*f, word);
    }
  }
}

TEST(ParseNumberTest, Spellings) {
  for (const auto& [text, word] : {std::pair("1", 0x3c00),         std::pair("1.0", 0x3c00),
                                   std::pair(".5", 0x3800),        std::pair("-1e0", 0xbc00),
                                   std::pair("0.25e1", 0x4100),    std::pair("2^-24", 0x0001),
                                   std::pair("-2^-24", 0x8001),    std::pair("0x1.8p-3", 0x3200),
                                   std::pair("0x3c00", 0x3c00),    std::pair("inf", 0x7c00),
                                   std::pair("-inf", 0xfc00),      std::pair("nan", 0x7e00),
                                   std::pair("1 + 2^-10", 0x3c01), std::pair("1 - 2^-11", 0x3bff),
                                   std::pair("5 * 2^-20", 0x0050), std::pair(" -0 ", 0x8000),
                                   std::pair("65504", 0x7bff),     std::pair("+0", 0),
                                   std::pair("INF", 0x7c00),       std::pair("+inf", 0x7c00),
                                   std::pair("NaN", 0x7e00),       std::pair("0X1.8P-3", 0x3200)}) {
    const auto parsed = ParseNumber(kF16, text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, static_cast<uint64_t>(word)) << text;
  }
}

TEST(ParseNumberTest, Refused) {
  EXPECT_EQ(Error(kF16, "0.1"),
            "'0.1' cannot be represented in f16: the nearest is 0x2e66 = ~0.099976");
  EXPECT_NE(Error(kF16, "65520").find("the largest is 0x7bff"), std::string::npos);
  for (const auto& [f, text, near] :
       {std::tuple(&kF64, "0.1", "the nearest is 0x3fb999999999999a"),
        std::tuple(&kF64, "5e-324", "0x0000000000000001"),
        std::tuple(&kF64, "2e308", "the largest is 0x7fefffffffffffff"),
        std::tuple(&kF16, "0.99999999999999999999", "the nearest is 0x3c00"),
        std::tuple(&kF16, "-2^-1100", "the nearest is 0x8000 = -0"),
        std::tuple(&kUe8m0, "-1", "the format has no sign"),
        std::tuple(&kUe8m0, "0", "the nearest is 0x00 = 2^-127"),
        std::tuple(&kF16, "-0.1", "the nearest is 0xae66")}) {
    EXPECT_NE(Error(*f, text).find(near), std::string::npos) << Error(*f, text);
  }
  for (const char* text :
       {"",       "x",       "1.2.3",   "2^",   "1e",   "--1",  "1 +",           "0x",
        "0xg",    "0x12345", "-0x3c00", "nan(", "1 2",  "~0.1", "2^99999999999", "1e99999999999",
        "1e-400", "0x1p",    "*",       "3 *",  "* 2^3"}) {
    EXPECT_NE(Error(kF16, text), "none") << text;
  }
  EXPECT_NE(Error(kE4m3, "inf"), "none");
  EXPECT_NE(Error(kE2m1, "nan"), "none");
  EXPECT_NE(Error(kS8, "128"), "none");
  EXPECT_NE(Error(kS8, "0.5"), "none");
  EXPECT_NE(Error(kU8, "-1"), "none");
  EXPECT_EQ(ParseNumber(kS8, "-128").value(), 0x80u);
}

std::string Hex(long double value) {
  char text[80];
  std::snprintf(text, sizeof text, "%La", value);
  return text;
}

long double ValueOfWord(const Format& f, uint64_t word) {
  const Unpacked u = Decode(f, word);
  return std::ldexp(static_cast<long double>(u.significand), u.exponent - f.fraction_bits);
}

// Between each two neighbors of every narrow format: the middle goes to the even one, what lies beside it to the nearer one.
TEST(RoundNumberTest, NearestTiesToEven) {
  for (const Format* f : kFormats) {
    if (IsInteger(*f) || f->bits > 16) continue;
    for (uint64_t low = 0; low < MaxFiniteWord(*f); ++low) {
      const long double x = ValueOfWord(*f, low), y = ValueOfWord(*f, low + 1),
                        middle = (x + y) / 2;
      const long double beside = (y - x) / 1024;
      const uint64_t even = low % 2 == 0 ? low : low + 1;
      for (const auto& [value, word] :
           {std::pair(middle, even), {middle - beside, low}, {middle + beside, low + 1}}) {
        const absl::StatusOr<RoundedNumber> rounded = RoundNumber(*f, Hex(value));
        ASSERT_TRUE(rounded.ok()) << rounded.status();
        ASSERT_EQ(rounded->word, word) << f->name << ' ' << Hex(value);
        ASSERT_FALSE(rounded->exact);
      }
    }
  }
}

TEST(RoundNumberTest, AsTheLibraryDoes) {
  for (const char* text : {"0.1", "3.14159265358979", "1e-3", "-2.7182818284590452353602874",
                           "1e-40", "123456789.123"}) {
    const float narrow = std::strtof(text, nullptr);
    const double wide = std::strtod(text, nullptr);
    EXPECT_EQ(RoundNumber(kF32, text)->word, std::bit_cast<uint32_t>(narrow)) << text;
    EXPECT_EQ(RoundNumber(kF64, text)->word, std::bit_cast<uint64_t>(wide)) << text;
  }
}

TEST(RoundNumberTest, ExactNumbersAndErrors) {
  EXPECT_TRUE(RoundNumber(kF16, "1.5")->exact);
  EXPECT_EQ(RoundNumber(kF16, "2^-26")->word, 0u);
  EXPECT_EQ(RoundNumber(kE4m3, "0.1")->word, 0x1du);
  // Beyond the largest number by less than half of what separates it from the one below.
  EXPECT_EQ(RoundNumber(kF16, "65519.99")->word, 0x7bffu);
  EXPECT_EQ(RoundNumber(kE4m3, "-464")->word, 0xfeu);
  EXPECT_EQ(RoundNumber(kF32, "3.4028235e38")->word, 0x7f7fffffu);
  for (const auto& [f, text] : {std::pair(&kE4m3, "464.01"),
                                {&kF16, "65520"},
                                {&kF32, "3.4028236e38"},
                                {&kUe8m0, "-1"},
                                {&kS8, "0.5"},
                                {&kF16, "x"},
                                // The middle to 64 bits, and a little more.
                                {&kF16, "1.00048828125000000000000000001"}}) {
    EXPECT_FALSE(RoundNumber(*f, text).ok()) << text;
  }
  EXPECT_EQ(RoundNumber(kF16, "1.00048828125")->word, 0x3c00u);
}

}  // namespace
}  // namespace mmadiff
