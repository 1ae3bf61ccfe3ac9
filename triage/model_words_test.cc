#include "triage/model_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/chain.h"
#include "sim/operation.h"
#include "sim/unlisted.h"

namespace mmadiff {
namespace {

std::string WordsOf(const char* name) { return DescribeModel(FindOperation(name)->model); }

TEST(ModelWords, OfEachFamily) {
  EXPECT_EQ(WordsOf("sm_90/wgmma.m64n8k32.f32.e4m3.e4m3"),
            "All 32 products and c are cut to 13 bits below the largest exponent, added exactly, "
            "and cut to 13 fraction bits.");
  EXPECT_EQ(
      WordsOf("sm_80/mma.m16n8k16.f32.f16.f16.f32"),
      "Every 8 products and the running sum (initially c) are cut to 24 bits below the largest "
      "exponent, added exactly, and cut "
      "to 23 fraction bits. Other parameters: exponent_floor=-132.");
  EXPECT_EQ(WordsOf("gfx942/v_mfma_f32_16x16x16_f16"),
            "Every 8 products are cut to 24 bits below their largest exponent and added; this sum "
            "and the running sum (initially c) are "
            "aligned, rounded down, added, rounded down to 31 bits below the leading one, and "
            "rounded to nearest even to 23 "
            "fraction bits.");
  EXPECT_EQ(
      WordsOf("gfx908/v_mfma_f32_16x16x16f16"),
      "Every 4 products and the running sum (initially c) are added exactly and rounded to nearest "
      "even to 23 fraction bits.");
  EXPECT_EQ(WordsOf("x86/vfmadd231sd"),
            "A fused multiply-add, rounded to nearest even to 52 fraction bits. Other parameters: "
            "nan_rule=propagate.");
  EXPECT_EQ(WordsOf("x86/vpdpbusds"),
            "All 4 products and c are added exactly; a sum beyond s32 saturates.");
  EXPECT_THAT(WordsOf("arm/bfdot"),
              testing::StartsWith(
                  "Both products are added, then c: each product and every sum is rounded to odd"));
  EXPECT_THAT(WordsOf("sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x"),
              testing::StartsWith(
                  "All products, added exactly 16 at a time and scaled, and c are cut to 35 bits"));
}

// A text that does not change with a parameter would hide the change.
TEST(ModelWords, EveryChangeChangesThem) {
  for (const Operation* op : DistinctOperations()) {
    const std::string words = DescribeModel(op->model);
    for (const Neighbour& n : AllNeighbours(op->model)) {
      EXPECT_NE(DescribeModel(WithAlgorithm(*op, n.algorithm)), words)
          << op->name << ' ' << Name(n);
    }
  }
}

TEST(ModelWords, OfAChainThoseOfOneExecution) {
  const Model one = FindOperation("x86/tdpbf16ps")->model;
  EXPECT_EQ(ModelInWords(Chain(one, 4)), ModelInWords(one));
}

TEST(ModelWords, Predicates) {
  const Algorithm& algorithm = FindOperation("sm_90/wgmma.m64n8k32.f32.e4m3.e4m3")->model.algorithm;
  const auto predicate = [&](const char* name) {
    return Predicate(algorithm, *FindParameter(Family::kFusedSum, name));
  };
  EXPECT_EQ(predicate("fraction_bits"), "keeps 13 bits");
  EXPECT_EQ(predicate("terms"), "adds 32 at a time");
  EXPECT_EQ(predicate("zero_sign"), "has zero_sign=positive");
}

TEST(ModelWords, TheSelectionOfASparseModelIsReported) {
  const auto reported = [](const char* name) { return Describe(FindOperation(name)->model); };
  EXPECT_THAT(reported("sm_80/mma.sp.m16n8k32.f32.f16.f16.f32"),
              testing::EndsWith(", selection=stored)"));
  EXPECT_THAT(reported("sm_80/mma.m16n8k16.f32.f16.f16.f32"),
              testing::Not(testing::HasSubstr("selection")));
}

// Without an addend there is no c in the sentence.
TEST(ModelWords, WithoutAnAddend) {
  const Operation& op = *FindUnlisted("unlisted/k4.f32.f16.f16.-");
  const auto words = [&](const Algorithm& a) { return ModelInWords(WithAlgorithm(op, a)); };
  Algorithm a = {
      .family = Family::kFusedSum, .terms = 4, .fraction_bits = 25, .output_fraction_bits = 23};
  EXPECT_THAT(words(a), testing::StartsWith("All 4 products are cut to 25 bits"));
  a.terms = 2;
  EXPECT_THAT(words(a), testing::StartsWith("Every 2 products and the running sum are cut"));
  a.family = Family::kPairwiseSum;
  EXPECT_THAT(words(a), testing::StartsWith("Every 2 products are added to the running sum: each"));
  a.addend_subnormals = Subnormals::kFlushPositive;
  EXPECT_THAT(words(a), testing::EndsWith("The sum starts from +0."));
  a.family = Family::kFmaChain;
  EXPECT_THAT(words(a), testing::EndsWith("starting from -0."));
  a.addend_joins = AddendJoins::kLastAdd;
  EXPECT_THAT(words(a), testing::EndsWith("starting from +0."));
}

}  // namespace
}  // namespace mmadiff
