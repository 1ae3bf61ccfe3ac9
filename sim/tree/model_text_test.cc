#include "sim/tree/model_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "sim/operation.h"
#include "sim/parameter.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const std::string& text) {
  TextError error;
  if (ParseModel(text, &error)) return "";
  return std::to_string(error.line) + ":" + std::to_string(error.column) + " " + error.what;
}

constexpr char kBegin[] = "mmadiff model 1\nk 8\na f16\nb f16\nc f32\nd f32\n";

TEST(ModelText, EveryRowIsReadAsItIsPrinted) {
  for (const Operation* op : DistinctOperations()) {
    const Model m = OneExecution(op->model);
    TextError error;
    const std::optional<Model> read = ParseModel(ModelFileText(m), &error);
    ASSERT_TRUE(read) << op->name << " " << error.line << ": " << error.what << "\n"
                      << ModelFileText(m);
    EXPECT_TRUE(SameModel(m, *read)) << ModelFileText(m) << ModelFileText(*read);
  }
}

TEST(ModelText, ReadsCommentsAndSpaces) {
  EXPECT_EQ(ErrorOf(std::string(kBegin) +
                    "# a comment\n\n  operands  input_subnormals=flush # another\r\n"
                    "node step to=f32\ntree step(k0.. c)\n"),
            "");
  EXPECT_EQ(ErrorOf(std::string(kBegin) + "family fma_chain"), "");
}

TEST(ModelText, DescribedFormats) {
  TextError error;
  const std::string text =
      "mmadiff model 1\nk 2\na e5m10\nb e4m3b11fnuz\nc f32\nd f32\n"
      "node s to=f32\ntree s(k0.. c)\n";
  const std::optional<Model> model = ParseModel(text, &error);
  ASSERT_TRUE(model) << error.what;
  EXPECT_EQ(std::string(model->a.name), "f16");
  EXPECT_EQ(std::string(model->b.name), "e4m3b11fnuz");
}

TEST(ModelText, SaysWhereAndWhatIsWrong) {
  const std::string begin = kBegin, node = "node step to=f32\n", tree = "tree step(k0.. c)\n";
  const std::pair<std::string, const char*> kWrong[] = {
      {"", "1:1 the first line is not 'mmadiff model 1'"},
      {"mmadiff model 2\n", "1:1 the first line is not"},
      {"mmadiff model 1\nk 16", "3:1 there is no line 'a'"},
      {begin, "7:1 there is neither a line 'tree' nor a line 'family'"},
      {begin + "k 4", "7:1 there is a line 'k' already"},
      {"mmadiff model 1\nk 0", "2:3 a number from 1 to 256, not '0'"},
      {"mmadiff model 1\nk", "2:2 a value is missing after 'k'"},
      {"mmadiff model 1\nk 8 9", "2:5 '9' is one value too many"},
      {"mmadiff model 1\na f61", "2:3 there is no format 'f61'; similar: f64"},
      {"mmadiff model 1\ne f16", "2:1 no line begins with 'e'"},
      {"mmadiff model 1\nfamly x", "2:1 no line begins with 'famly'; similar: family"},
      {"mmadiff model 1\nnode n\ntree n(k0)", "3:1 the line 'k' must come before the tree"},
      {begin + "family fused", "7:8 there is no family 'fused'"},
      {begin + "family fused_sum terms=8 fraction_bit=25", "7:26 there is no parameter "},
      {begin + "family fused_sum terms=0",
       "7:18 'terms=0': write terms=VALUE; allowed: a number 1.."},
      {begin + "family fused_sum terms=8", "7:1 fraction_bits must be 1..37"},
      {begin + node + tree + "family fma_chain", "10:1 a model has a tree or a family, not both"},
      {begin + "family fma_chain\noperands a_reading=zero", "8:1 with a family"},
      {begin + "operands terms=8", "7:10 there is no parameter 'terms'"},
      {begin + node + "tree step(k0..6 c)", "8:1 k7 is nowhere"},
      {begin + node + "tree step(k0..4000000000 c)", "8:11 there are 8 products, k0 to k7"},
      {begin + "node step output_rounding=up\n", "7:1 'output_rounding' needs to=FORMAT"},
      {"mmadiff model 1\nk 8\na f16\nb f16\nc -\nd f32\n" + node + tree,
       "8:1 there is no addend c"},
      {begin + node + "tree step(k0..)", "8:1 the addend c is nowhere"},
      {begin + node + "tree step(k0.. k0 c)", "8:1 k0 is added twice"},
      {begin + "node step to=f16\n" + tree, "8:1 the last node has to=f16, but d is f32"},
      {begin + "node step\n" + tree, "8:1 the last node needs to=f32"},
      {begin + "node s\nnode step to=f32\ntree step(s(k0..) c)",
       "9:1 node step: an exact sum of exact sums"},
      {begin + "node step to=s32\n" + tree, "8:1 node step: its result must be a floating"},
      {begin + "node step to=f32 output_fraction_bits=24\n" + tree,
       "8:1 node step: output_fraction_bits must be at most 23"},
      {begin + "node step scale=added\nnode s to=f32\ntree s(step(k0..) c)",
       "9:1 node step: there are no scales"},
      {begin + "node step to=f32 nan_rule=7f,7f\n" + tree,
       "8:1 node step: the constants of nan_rule must be NaNs of f32"},
      {"mmadiff model 1\nk 40\na e4m3\nb e4m3\nc f32\nd f32\nscale ue8m0 32\n" + node + tree,
       "9:1 k must be a multiple of the 32 products that share a scale"},
      {std::string(kMaxModelText + 1, '#'), "1:1 the file is larger than"},
  };
  for (const auto& [text, what] : kWrong) EXPECT_THAT(ErrorOf(text), HasSubstr(what)) << text;
}

}  // namespace
}  // namespace mmadiff
