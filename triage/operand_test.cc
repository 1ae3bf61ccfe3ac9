#include "triage/operand.h"

#include "gtest/gtest.h"
#include "sim/row.h"
#include "triage/simplicity.h"
#include "triage/terms.h"

namespace mmadiff {
namespace {

using Class = Operand::Class;

// Every word of the narrow formats, a lattice of the wide ones.
TEST(Operand, PackInvertsUnpack) {
  for (const Format* f : kFormats) {
    const uint64_t step = f->bits <= 16 ? 1 : (LowBits(f->bits) / 99991) | 1;
    for (uint64_t i = 0; i <= LowBits(f->bits) / step; ++i) {
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
  EXPECT_EQ(c, (Complexity{2, 1, 3, 3, 1, 1, 24, 1, 2}));
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
