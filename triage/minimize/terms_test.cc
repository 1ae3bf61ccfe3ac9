#include "triage/minimize/terms.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "sim/operation.h"
#include "triage/minimize/simplicity.h"

namespace mmadiff {
namespace {

using Class = Value::Class;

const Model& F16Model() { return FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32")->model; }

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
  return FindOperation("sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x")->model;
}

// Scales of 1.0 count nothing; the words 2K and of the terms are the addend's and the elements'.
TEST(Complexity, ScalesOfOneCountNothing) {
  const Model& m = ScaledModel();
  DotProductCase dot = NeutralDotProduct(m);
  ASSERT_EQ(dot.a.size(), 68u);
  EXPECT_EQ(dot.a[63], 0u);
  EXPECT_EQ(dot.a[64], 0x38u);
  EXPECT_EQ(dot.b[67], 0x38u);
  EXPECT_EQ(ComplexityOf(m, dot), Complexity{});
  dot.a[67] = 0x4c;  // 1.5 * 2^2
  dot.b[64] = 0x30;  // 2^-1
  EXPECT_EQ(ComplexityOf(m, dot), (Complexity{0, 2, 0, 0, 1, 1, 2, 3, 0, 0}));
  dot = NeutralDotProduct(m);
  dot.a[64] = 0x7f;  // NaN
  dot.b[64] = 0;
  EXPECT_EQ(ComplexityOf(m, dot), (Complexity{0, 2, 0, 3, 3, 0, 0, 0, 0, 0}));
}

TEST(Terms, NumbersLeaveScalesOut) {
  const Model& m = ScaledModel();
  DotProductCase dot = NeutralDotProduct(m);
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
  EXPECT_EQ(dot, NeutralDotProduct(m));
  dot.a[65] = 0x40;
  dot.a[3] = 1;
  const DotProductCase cleared = WithoutTerms(m, dot);
  EXPECT_EQ(cleared.a[65], 0x40u);
  EXPECT_EQ(cleared.a[3], 0u);
}

TEST(Terms, ProductValueIsExact) {
  // 1.5 * -1.5 = -2.25; the largest f16 squared; a subnormal.
  const DotProductCase dot = Dot({0x3e00, 0x7bff, 0x0003}, {0xbe00, 0x7bff, 0x3c00}, 0);
  const Value x = *ProductValue(F16Model(), dot, 0);
  EXPECT_TRUE(x.negative);
  EXPECT_EQ(x.exponent, 1);
  EXPECT_EQ(x.fraction, 1ull << 61);
  const Value y = *ProductValue(F16Model(), dot, 1);
  EXPECT_EQ(y.exponent, 31);
  EXPECT_EQ(y.fraction, 0x1ff001ull << 43);  // 2047^2 = 0x3ff001
  const Value z = *ProductValue(F16Model(), dot, 2);
  EXPECT_EQ(z.exponent, -23);
  EXPECT_EQ(z.fraction, 1ull << 63);
  EXPECT_FALSE(ProductValue(F16Model(), dot, 3).has_value());
}

TEST(Terms, SetTermExponentKeepsTheRest) {
  DotProductCase dot = Dot({0xbe00}, {0x3e00}, 0);
  ASSERT_TRUE(SetTermExponent(F16Model(), 0, 3, ExponentSplit::kUnitB, dot));
  EXPECT_EQ(dot, Dot({0xca00}, {0x3e00}, 0));
  ASSERT_TRUE(SetTermExponent(F16Model(), 0, 3, ExponentSplit::kUnitA, dot));
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
