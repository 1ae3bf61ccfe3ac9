// Sparse instructions: the tree of the stored products, and which products are added.
#include <gmock/gmock.h>

#include "sim/equivalence.h"
#include "triage/infer/infer.h"
#include "triage/infer/inference_text.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

using testing::Contains;
using testing::HasSubstr;

const InferOptions kQuick = {100000, 100000, {}};

Operation Unknown(Operation op) {
  op.model.algorithm = {.family = Family::kNone};
  return op;
}

struct Row {
  const char *title, *name, *tree;
};
constexpr Row kRows[] = {
    {"F16", "sm_80/mma.sp.m16n8k32.f32.f16.f16.f32", "(c + k0..7) + k8..15"},
    {"Tf32", "sm_80/mma.sp.m16n8k16.f32.tf32.tf32.f32", "(c + k0..3) + k4..7"},
    {"Smfmac", "gfx942/v_smfmac_f32_16x16x32_f16", "(c + k0..7) + k8..15"},
    {"Swmmac", "gfx1200/v_swmmac_f32_16x16x32_f16", "(((c + k0..3) + k8..11) + k4..7) + k12..15"},
};

class InferSparseRows : public testing::TestWithParam<Row> {};

TEST_P(InferSparseRows, FindsTheTablesModel) {
  const Operation& op = *FindOperation(GetParam().name);
  ModelDevice device(op.model);
  const Inference inference = Infer(device, Unknown(op), kQuick);
  const std::string text = InferenceText(Unknown(op), inference, {});
  ASSERT_TRUE(inference.algorithm) << text;
  EXPECT_THAT(SameRows(op, *inference.algorithm), Contains(FindOperation(op.name))) << text;
  EXPECT_THAT(text, HasSubstr("selection=stored"));
  EXPECT_THAT(text, HasSubstr(std::string("tree     ") + GetParam().tree + "\n"));
  EXPECT_GT(inference.validated, 0);
  for (const ExperimentAnswer& a : inference.answers) {
    ASSERT_EQ(a.observed.dot.metadata.size(), static_cast<size_t>(op.shape().groups));
  }
}

TEST_P(InferSparseRows, FindsEachSelection) {
  const Operation& op = *FindOperation(GetParam().name);
  const Parameter& selection = *FindParameter(op.model.algorithm.family, "selection");
  for (const int value : OtherValues(selection, selection.get(op.model.algorithm))) {
    Model planted = op.model;
    selection.set(planted.algorithm, value);
    if (!WhyInvalid(planted).empty()) continue;  // a tree
    ModelDevice device(planted);
    const Inference inference = Infer(device, op, kQuick);
    const std::string text = InferenceText(op, inference, {});
    ASSERT_TRUE(inference.algorithm) << text;
    const bool same = !WhyEquivalent(op.model, planted.algorithm).empty();
    EXPECT_EQ(*inference.algorithm, same ? op.model.algorithm : planted.algorithm) << text;
    EXPECT_THAT(text,
                HasSubstr(same ? ValueText(selection, value) : Name(Change{&selection, value})));
    EXPECT_EQ(ContradictsTable(op, inference), !same);
  }
}

// A device that stores what the zeros of A say, or always the first elements of each group.
TEST(InferSparseTest, NamesMisreadMetadata) {
  const Operation& op = *FindOperation("sm_80/mma.sp.m16n8k16.f32.f16.f16.f32");
  ChangedOperands ignores(op, [](DotProductCase& dot) { dot.metadata.clear(); });
  ChangedOperands first(op, [&](DotProductCase& dot) {
    for (size_t g = 0; g < dot.metadata.size(); ++g) {
      dot.metadata[g] = 0x4;
      DropUnstored(0x4, std::span(dot.a).subspan(4 * g, 4));
    }
  });
  for (const auto& [device, operands] :
       {std::pair(&ignores, "metadata are ignored"), {&first, "k = 2..3 of a is ignored"}}) {
    const Inference inference = Infer(*device, op, {10000, 10000, {}});
    EXPECT_FALSE(inference.algorithm);
    EXPECT_THAT(inference.operands, HasSubstr(operands));
    EXPECT_TRUE(inference.refuted.empty());
  }
}

TEST(InferSparseTest, Integers) {
  const Operation& op = *FindOperation("gfx1200/v_swmmac_i32_16x16x32_iu8.s8.s8.clamp");
  Model planted = op.model;
  planted.algorithm.selection = Selection::kFirstsThenSeconds;
  for (const Model& model : {op.model, planted}) {
    ModelDevice device(model);
    const Inference inference = Infer(device, Unknown(op), kQuick);
    ASSERT_TRUE(inference.algorithm);
    EXPECT_TRUE(SameModel(WithAlgorithm(op, *inference.algorithm), model));
    EXPECT_THAT(InferenceText(op, inference, {}), HasSubstr("tree     not observed: integer sums"));
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, InferSparseRows, testing::ValuesIn(kRows),
                         [](const auto& info) { return std::string(info.param.title); });

}  // namespace
}  // namespace mmadiff
