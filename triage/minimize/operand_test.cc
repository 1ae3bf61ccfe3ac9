#include "triage/minimize/operand.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "sim/row.h"
#include "triage/minimize/simplicity.h"
#include "triage/minimize/terms.h"

namespace mmadiff {
namespace {

using Class = Operand::Class;

// Every word of the narrow formats, a lattice of the wide ones.
TEST(Operand, PackInvertsUnpack) {
  for (const Format* f : kFormats) {
    const uint64_t step = f->bits <= 16 ? 1 : (LowBits(f->bits) / 99991) | 1;
    // Of unsigned scales with a bit to spare the top one is not read.
    const int read = IsInteger(*f) || f->is_signed ? f->bits : f->exponent_bits + f->fraction_bits;
    for (uint64_t i = 0; i <= LowBits(read) / step; ++i) {
      const uint64_t word = i * step & ~LowBits(f->ignored_bits);
      uint64_t back = ~word;
      ASSERT_TRUE(Pack(*f, Unpack(*f, word), &back)) << f->name << " " << word;
      ASSERT_EQ(back, word) << f->name;
    }
  }
}

TEST(Operand, Fields) {
  const Operand f16 = Unpack(kF16, 0xbe00);  // -1.5
  EXPECT_TRUE(f16.negative);
  EXPECT_EQ(f16.exponent, 0);
  EXPECT_EQ(f16.fraction, 1ull << 63);
  EXPECT_EQ(Unpack(kF16, 0x0003).exponent, -23);
  const Operand s8 = Unpack(kS8, 0x80);
  EXPECT_TRUE(s8.negative);
  EXPECT_EQ(s8.exponent, 7);
  EXPECT_EQ(Unpack(kF32, 0x7fc00001).fraction, 0x400001u);
}

TEST(Operand, PackRefusesWhatTheFormatCannotHold) {
  uint64_t word = 77;
  EXPECT_FALSE(PackPowerOfTwo(kF16, false, 16, &word));
  EXPECT_FALSE(PackPowerOfTwo(kF16, false, -25, &word));
  EXPECT_FALSE(PackPowerOfTwo(kS8, false, 7, &word));
  EXPECT_FALSE(PackPowerOfTwo(kU8, true, 0, &word));
  EXPECT_FALSE(PackPowerOfTwo(kS32, false, -1, &word));
  EXPECT_FALSE(Pack(kF16, {Class::kFinite, false, -24, 1ull << 63}, &word));
  EXPECT_FALSE(Pack(kF16, {Class::kFinite, false, 0, 1ull << 53}, &word));
  EXPECT_FALSE(Pack(kE4m3, {Class::kInfinite, false, 0, 0}, &word));
  EXPECT_FALSE(Pack(kE4m3, {Class::kFinite, false, 8, 7ull << 61}, &word));  // its NaN
  EXPECT_FALSE(Pack(kF16, {Class::kNan, false, 0, 0}, &word));
  EXPECT_EQ(word, 77u);
  EXPECT_TRUE(PackPowerOfTwo(kS8, true, 7, &word));
  EXPECT_EQ(word, 0x80u);
}

// Unsigned scales, NaN at -0, formats without infinity or NaN.
TEST(Operand, OddFormats) {
  EXPECT_EQ(Unpack(kUe8m0, 0x7f).exponent, 0);
  EXPECT_EQ(Unpack(kUe8m0, 0x00).exponent, -127);  // no zero
  EXPECT_EQ(Unpack(kUe8m0, 0xff).kind, Class::kNan);
  EXPECT_EQ(Unpack(kUe4m3, 0xb8).exponent, 0);  // the top bit is not read
  EXPECT_FALSE(Unpack(kUe4m3, 0xb8).negative);
  EXPECT_EQ(Unpack(kE5m2fnuz, 0x80).kind, Class::kNan);
  EXPECT_EQ(LowestExponent(kUe8m0), -127);
  EXPECT_EQ(HighestExponent(kUe8m0), 127);
  EXPECT_EQ(LowestExponent(kE2m1), -1);
  uint64_t word = 77;
  EXPECT_FALSE(Pack(kUe8m0, {Class::kZero, false, 0, 0}, &word));
  EXPECT_FALSE(PackPowerOfTwo(kUe8m0, true, 0, &word));
  EXPECT_FALSE(PackPowerOfTwo(kUe8m0, false, 128, &word));
  EXPECT_FALSE(PackPowerOfTwo(kUe8m0, false, -128, &word));
  EXPECT_FALSE(PackPowerOfTwo(kUe4m3, true, 0, &word));
  EXPECT_FALSE(Pack(kE4m3fnuz, {Class::kZero, true, 0, 0}, &word));  // the pattern is its NaN
  for (const Format* f : {&kE2m1, &kE2m3, &kE3m2, &kE4m3fnuz, &kE4m3, &kUe8m0, &kUe4m3}) {
    EXPECT_FALSE(Pack(*f, {Class::kInfinite, false, 0, 0}, &word)) << f->name;
  }
  EXPECT_EQ(word, 77u);
}

TEST(Operand, SimplestNanOfEveryFormat) {
  const std::pair<const Format*, uint64_t> nans[] = {{&kF32, 0x7fc00000}, {&kTf32, 0x7fc00000},
                                                     {&kE5m2, 0x7e},      {&kE4m3, 0x7f},
                                                     {&kUe8m0, 0xff},     {&kUe4m3, 0x7f}};
  uint64_t word = 0;
  for (const auto& [format, nan] : nans) {
    EXPECT_TRUE(PackNan(*format, false, &word)) << format->name;
    EXPECT_EQ(word, nan) << format->name;
  }
  EXPECT_TRUE(PackNan(kE4m3fnuz, true, &word));
  EXPECT_EQ(word, 0x80u);
  EXPECT_FALSE(PackNan(kE4m3fnuz, false, &word));
  for (const Format* f : kFormats) {
    if (f->nonfinite != Nonfinite::kNone) continue;
    EXPECT_FALSE(PackNan(*f, false, &word)) << f->name;
  }
}

const Model& F16Model() { return FindRow("sm_90/mma.m16n8k16.f32.f16.f16.f32")->model; }

DotProductCase Dot(std::vector<uint64_t> a, std::vector<uint64_t> b, uint64_t c) {
  a.resize(16);
  b.resize(16);
  return {a, b, c};
}

TEST(Complexity, EachCount) {
  // -2^-24 * 1.5, inf * 0, addend NaN with a payload of two bits.
  const Complexity c =
      ComplexityOf(F16Model(), Dot({0x8001, 0, 0x7c00}, {0x3e00, 0, 0}, 0x7fc00001));
  EXPECT_EQ(c, (Complexity{2, 0, 1, 3, 3, 1, 1, 24, 1, 2}));
}

// Each is simpler than the one after it, whatever the later counts say.
TEST(Complexity, Order) {
  const DotProductCase order[] = {
      Dot({}, {}, 0),
      Dot({}, {}, 0x3f800000),
      Dot({}, {}, 0x40000000),
      Dot({}, {}, 0x3fc00000),
      Dot({}, {}, 0x3f800001),
      Dot({}, {}, 0x7f800000),
      Dot({0x3c00}, {0x3c00}, 0),
      Dot({0, 0x3c00}, {0, 0x3c00}, 0),
      Dot({0x3c00}, {0xbc00}, 0),
      Dot({0xbc00}, {0x3c00}, 0),
      Dot({0x3c00}, {0x4000}, 0),
      Dot({0x3c00}, {0x3c00}, 0x3f800000),
      Dot({0x3c00, 0x3c00}, {0x3c00, 0x3c00}, 0),
  };
  for (size_t i = 0; i + 1 < std::size(order); ++i) {
    const Complexity x = ComplexityOf(F16Model(), order[i]);
    const Complexity y = ComplexityOf(F16Model(), order[i + 1]);
    EXPECT_TRUE(Simpler(x, order[i], y, order[i + 1])) << i;
    EXPECT_FALSE(Simpler(y, order[i + 1], x, order[i])) << i;
  }
}

const Model& ScaledModel() {
  return FindRow("sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x")->model;
}

// Scales of 1.0 count nothing; the words 2K and of the terms are the addend's and the elements'.
TEST(Complexity, ScalesOfOneCountNothing) {
  const Model& m = ScaledModel();
  DotProductCase dot = NoTerms(m);
  ASSERT_EQ(dot.a.size(), 68u);
  EXPECT_EQ(dot.a[63], 0u);
  EXPECT_EQ(dot.a[64], 0x38u);
  EXPECT_EQ(dot.b[67], 0x38u);
  EXPECT_EQ(ComplexityOf(m, dot), Complexity{});
  dot.a[67] = 0x4c;  // 1.5 * 2^2
  dot.b[64] = 0x30;  // 2^-1
  EXPECT_EQ(ComplexityOf(m, dot), (Complexity{0, 2, 0, 0, 1, 1, 2, 3, 0, 0}));
  dot = NoTerms(m);
  dot.a[64] = 0x7f;  // NaN
  dot.b[64] = 0;
  EXPECT_EQ(ComplexityOf(m, dot), (Complexity{0, 2, 0, 3, 3, 0, 0, 0, 0, 0}));
}

TEST(Terms, NumbersLeaveScalesOut) {
  const Model& m = ScaledModel();
  DotProductCase dot = NoTerms(m);
  EXPECT_TRUE(ActiveTerms(m, dot).empty());
  EXPECT_TRUE(ActiveWords(m, dot).empty());
  dot.c = 5;
  dot.b[63] = 2;
  EXPECT_EQ(ActiveWords(m, dot), (std::vector<int>{127, 128}));
  EXPECT_EQ(ActiveTerms(m, dot), (std::vector<int>{63, 64}));
  EXPECT_EQ(&WordAt(m, dot, 128), &dot.c);
  EXPECT_EQ(FormatOfWord(m, 128).name, std::string("f32"));
  ClearTerm(m, 64, dot);
  ClearTerm(m, 63, dot);
  EXPECT_EQ(dot, NoTerms(m));
  dot.a[65] = 0x40;
  dot.a[3] = 1;
  const DotProductCase cleared = NoTerms(m, dot);
  EXPECT_EQ(cleared.a[65], 0x40u);
  EXPECT_EQ(cleared.a[3], 0u);
}

TEST(Terms, ProductValueIsExact) {
  // 1.5 * -1.5 = -2.25; the largest f16 squared; a subnormal.
  const DotProductCase dot = Dot({0x3e00, 0x7bff, 0x0003}, {0xbe00, 0x7bff, 0x3c00}, 0);
  const Operand x = *ProductValue(F16Model(), dot, 0);
  EXPECT_TRUE(x.negative);
  EXPECT_EQ(x.exponent, 1);
  EXPECT_EQ(x.fraction, 1ull << 61);
  const Operand y = *ProductValue(F16Model(), dot, 1);
  EXPECT_EQ(y.exponent, 31);
  EXPECT_EQ(y.fraction, 0x1ff001ull << 43);  // 2047^2 = 0x3ff001
  const Operand z = *ProductValue(F16Model(), dot, 2);
  EXPECT_EQ(z.exponent, -23);
  EXPECT_EQ(z.fraction, 1ull << 63);
  EXPECT_FALSE(ProductValue(F16Model(), dot, 3).has_value());
}

TEST(Terms, SetTermExponentKeepsTheRest) {
  DotProductCase dot = Dot({0xbe00}, {0x3e00}, 0);
  ASSERT_TRUE(SetTermExponent(F16Model(), 0, 3, Split::kUnitB, dot));
  EXPECT_EQ(dot, Dot({0xca00}, {0x3e00}, 0));
  ASSERT_TRUE(SetTermExponent(F16Model(), 0, 3, Split::kUnitA, dot));
  EXPECT_EQ(dot, Dot({0xbe00}, {0x4a00}, 0));
  ASSERT_TRUE(SetTermExponent(F16Model(), 0, -20, dot));
  EXPECT_EQ(TermExponent(F16Model(), dot, 0), -20);
  const DotProductCase before = dot;
  EXPECT_FALSE(SetTermExponent(F16Model(), 0, 40, dot));
  EXPECT_EQ(dot, before);
  EXPECT_EQ(TermExponent(F16Model(), Dot({0x7c00}, {0x3c00}, 0), 0), std::nullopt);
}

}  // namespace
}  // namespace mmadiff
