#include "sim/absent_addend.h"

#include <gtest/gtest.h>

#include "sim/equivalence.h"
#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/reference/random_dot.h"
#include "sim/simulate.h"
#include "sim/unlisted.h"

namespace mmadiff {
namespace {

Model ModelOf(const char* name, const Algorithm& algorithm) {
  return WithAlgorithm(*FindUnlisted(name), algorithm);
}

// Whatever word is in c, the model adds -0 of the output: alone, in a batch and in lanes.
TEST(AbsentAddendTest, IsNeutral) {
  const char* const kFloats = "unlisted/k4.f32.f16.f16.-";
  const Algorithm chain = {.family = Family::kFmaChain, .output_fraction_bits = 23};
  Algorithm fused = chain;
  fused.family = Family::kFusedSum;
  fused.terms = 4;
  fused.fraction_bits = 25;
  reference::Random random(1);
  for (const Model& m :
       {ModelOf(kFloats, chain), ModelOf(kFloats, fused),
        ModelOf("unlisted/k3.s32.s8.u8.-", {.family = Family::kIntegerDot, .terms = 3})}) {
    ASSERT_EQ(WhyInvalid(m), "");
    const Model with = WithNeutralAddend(m);
    std::vector<DotProductCase> dots;
    std::vector<uint64_t> wanted;
    for (int i = 0; i < 200; ++i) {
      DotProductCase dot = reference::RandomDot(with, random);
      dot.c = NeutralAddend(m);
      ASSERT_EQ(reference::Disagreement(with, dot), "");
      wanted.push_back(Simulate(with, dot));
      dot.c = i;
      dots.push_back(dot);
      EXPECT_EQ(Simulate(m, dot), wanted.back());
    }
    const Batch batch = MakeDotProductBatch({1, 1, m.k, 1, 0}, dots);
    std::vector<uint64_t> d(dots.size());
    Simulate(m, batch, d);
    EXPECT_EQ(d, wanted);
  }
}

// A sum of products that are all -0 is -0, as without an addend; +0 as the addend would make it +0.
TEST(AbsentAddendTest, KeepsMinusZero) {
  const Model m = ModelOf("unlisted/k2.f32.f32.f32.-",
                          {.family = Family::kFmaChain, .output_fraction_bits = 23});
  EXPECT_EQ(Simulate(m, {{0x80000000, 0}, {0x3f800000, 0x80000000}, 0}), 0x80000000u);
  EXPECT_EQ(Simulate(m, {{0x80000000, 0}, {0x3f800000, 0x3f800000}, 0}), 0u);
}

// No input shows whether an addend that is not there is flushed, unless it becomes +0.
TEST(AbsentAddendTest, IsNotFlushed) {
  for (const Family family : {Family::kPairwiseSum, Family::kFmaChain}) {
    const Model m =
        ModelOf("unlisted/k1.f32.f32.f32.-", {.family = family, .output_fraction_bits = 23});
    Algorithm flush = m.algorithm, positive = flush;
    flush.addend_subnormals = Subnormals::kFlush;
    positive.addend_subnormals = Subnormals::kFlushPositive;
    EXPECT_EQ(WhyEquivalent(m, flush), "there is no addend to flush");
    EXPECT_EQ(WhyEquivalent(m, positive), "");
    EXPECT_EQ(WhyEquivalent(WithNeutralAddend(m), flush), "");
  }
}

TEST(AbsentAddendTest, Names) {
  EXPECT_NE(FindUnlisted("unlisted/k32.f32.e4m3.e4m3.-.ue8m0.32"), nullptr);
  for (const char* name :
       {"unlisted/k2.f32.f32.-.f32", "unlisted/k2.f32.-.f32.f32", "unlisted/k2.-.f32.f32.f32",
        "unlisted/k2.f32.-.f32.-", "unlisted/k2.s32.s8.f16.-", "unlisted/k2.f32.-.-.-"}) {
    EXPECT_EQ(FindUnlisted(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace mmadiff
