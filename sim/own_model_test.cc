#include "sim/own_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/parameter.h"
#include "sim/simulate.h"
#include "sim/tree/model_text.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

constexpr char kRow[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";

std::string WhyNot(const std::string& name) {
  EXPECT_EQ(FindOperation(name), nullptr) << name;
  return WhyNoOperation(name);
}

TEST(OwnModel, ARowWithChangedParameters) {
  const std::string name = std::string(kRow) + ":fraction_bits=24,terms=8";
  const Operation* const op = FindOperation(name);
  ASSERT_NE(op, nullptr) << WhyNoOperation(name);
  EXPECT_EQ(op->name, name);
  EXPECT_EQ(op->numerics->evidence.grade, Grade::kOwn);
  EXPECT_EQ(op->model.algorithm.fraction_bits, 24);
  EXPECT_EQ(op->model.algorithm.terms, 8);
  EXPECT_EQ(op->instruction, FindOperation(kRow)->instruction);
  EXPECT_EQ(FindOperation(name), op);
  EXPECT_EQ(MatchOperations(name), std::vector<const Operation*>{op});
  EXPECT_EQ(FindOperation("hopper/mma.m16n8k16.f32.f16.f16.f32:fraction_bits=24,terms=8"), op);
}

TEST(OwnModel, AnotherFamily) {
  const std::string exact = std::string(kRow) + ":exact_sum,terms=16";
  ASSERT_NE(FindOperation(exact), nullptr) << WhyNoOperation(exact);
  EXPECT_EQ(FindOperation(exact)->model.algorithm.family, Family::kExactSum);
  const std::string chain = "unlisted/k4.f32.f16.f16.f32:fma_chain";
  ASSERT_NE(FindOperation(chain), nullptr) << WhyNoOperation(chain);
  EXPECT_EQ(FindOperation(chain)->model.algorithm.output_fraction_bits, 23);
}

TEST(OwnModel, ANodeOfATree) {
  const char* const name = "gfx1100/v_wmma_f32_16x16x16_f16:step.fraction_bits=23";
  ASSERT_NE(FindOperation(name), nullptr) << WhyNoOperation(name);
  EXPECT_THAT(Describe(FindOperation(name)->model.algorithm), HasSubstr("fraction_bits=23"));
}

TEST(OwnModel, SaysWhatIsWrong) {
  const std::string row = kRow;
  EXPECT_THAT(WhyNot(row + ":"), HasSubstr("no parameter ''"));
  EXPECT_THAT(WhyNot(row + ":width=24"), HasSubstr("no parameter 'width'"));
  EXPECT_THAT(WhyNot(row + ":terms"), HasSubstr("write terms=VALUE"));
  EXPECT_THAT(WhyNot(row + ":fraction_bits=99"), HasSubstr("a number 1..37"));
  EXPECT_THAT(WhyNot(row + ":output_fraction_bits=30"), HasSubstr("must be at most 23"));
  EXPECT_THAT(WhyNot(row + ":fused_sum"), HasSubstr("fraction_bits must be"));
  EXPECT_THAT(WhyNot("sm_90/nothing:terms=4"), HasSubstr("no instruction 'sm_90/nothing'"));
  EXPECT_THAT(WhyNot("unlisted/k4.f32.f16.f16.f32:terms=4"), HasSubstr("FAMILY,NAME=VALUE"));
  EXPECT_THAT(WhyNot("gfx1100/v_wmma_f32_16x16x16_f16:stp.fraction_bits=23"),
              HasSubstr("no node 'stp'"));
  EXPECT_THAT(WhyNot(row + ":fraction_bits=24,fraction_bits=25"),
              HasSubstr("'fraction_bits' is changed twice"));
  EXPECT_THAT(WhyNot("own/nothing"), HasSubstr("--model=FILE"));
}

TEST(OwnModel, AGivenModel) {
  TextError error;
  const auto model = ParseModel(
      "mmadiff model 1\nk 4\na f16\nb f16\nc f32\nd f32\nnode add to=f32\ntree add(c k0..)",
      &error);
  ASSERT_TRUE(model) << error.what;
  const Operation* const op = AddOwnModel("mine", "1a", *model);
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op->name, "own/mine~1a");
  EXPECT_EQ(FindOperation("own/mine"), op);
  EXPECT_EQ(FindOperation("own/mine~1a"), op);
  const Operation* const changed = FindOperation("own/mine:add.output_rounding=up");
  ASSERT_NE(changed, nullptr);
  EXPECT_EQ(changed->name, "own/mine~1a:add.output_rounding=up");
  EXPECT_EQ(FindOperation(changed->name), changed);
  EXPECT_THAT(WhyNot("own/mine~2b"), HasSubstr("the model given is own/mine~1a"));
  EXPECT_EQ(op->arch(), "own");
  EXPECT_EQ(
      Simulate(op->model,
               {{0x3c00, 0x3c00, 0x3c00, 0x3c00}, {0x3c00, 0x3c00, 0x3c00, 0x3c00}, 0x3f800000}),
      0x40a00000u);
  const Operation* const other = AddOwnModel("mine", "2b", FindOperation(kRow)->model);
  EXPECT_EQ(FindOperation("own/mine"), other);
  EXPECT_EQ(FindOperation("own/mine~1a"), op);
  EXPECT_EQ(op->model.k, 4);  // still there
}

}  // namespace
}  // namespace mmadiff
