// Sums that no family has: `infer` ends with a tree.
#include <gmock/gmock.h>

#include <cstdio>
#include <ctime>

#include "sim/simulate.h"
#include "sim/tree/tree_text.h"
#include "sim/unlisted.h"
#include "triage/infer/experiments.h"
#include "triage/infer/infer.h"
#include "triage/infer/inference_text.h"
#include "triage/model_device.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

struct Known {
  const char *name, *op, *tree;
};

// The devices that docs of users ask for, as trees.
constexpr Known kDevices[] = {
    {"three at a time, ties away", "unlisted/k8.f32.f16.f16.f32",
     "node t to=f32 output_rounding=nearest_away\ntree reduce t(k0..7 c /3)"},
    {"chunks of 4, bf16 accumulator", "unlisted/k8.f32.bf16.bf16.f32",
     "node add to=f32\nnode acc to=bf16\nnode out to=f32\n"
     "tree out(acc(add(acc(add(acc(c) add(add(add(k0 k1) k2) k3))) add(add(add(k4 k5) k6) k7))))"},
    {"chunks of 4 in double", "unlisted/k8.f32.f16.f16.f32",
     "node add to=f64\nnode out to=f32\n"
     "tree out(add(add(add(add(out(add(add(add(add(c k0) k1) k2) k3)) k4) k5) k6) k7))"},
    {"Kulisch", "unlisted/k8.f32.f16.f16.f32",
     "node all to=f32 zero_sign=positive\ntree all(k0..7 c)"},
};
// Half a minute each.
constexpr Known kSlowDevices[] = {
    {"products rounded, pairs of lanes", "unlisted/k32.f32.f32.f32.f32",
     "node mul to=f32\nnode add to=f32 nan_rule=quiet_positive\n"
     "tree add(c reduce add(fold add(_ mul(@)) over k8..24:8 from mul(k0) fold add(_ mul(@)) over "
     "k9..25:8 from mul(k1) fold add(_ mul(@)) over k10..26:8 from mul(k2) fold add(_ mul(@)) over "
     "k11..27:8 from mul(k3) fold add(_ mul(@)) over k12..28:8 from mul(k4) fold add(_ mul(@)) "
     "over "
     "k13..29:8 from mul(k5) fold add(_ mul(@)) over k14..30:8 from mul(k6) fold add(_ mul(@)) "
     "over "
     "k15..31:8 from mul(k7) /2))"},
    {"f32 chain, bf16 result", "unlisted/k8.bf16.bf16.bf16.f32",
     "node mul to=f32\nnode add to=f32\nnode out to=bf16\n"
     "tree out(fold add(_ mul(@)) over k0..7 from c)"},
    {"f32 sums cut to 13 bits", "unlisted/k8.f32.bf16.bf16.f32",
     "node mul to=f32\nnode add to=f32\n"
     "node cut to=f32 output_fraction_bits=13 output_rounding=toward_zero\n"
     "tree fold cut(add(_ mul(@))) over k0..7 from c"},
};

double Now() { return static_cast<double>(clock()) / CLOCKS_PER_SEC; }

class DevicesTest : public testing::TestWithParam<Known> {};

TEST_P(DevicesTest, IsFound) {
  const Known& known = GetParam();
  const Operation& op = *FindUnlisted(known.op);
  const Tree hidden = TreeFromText(known.tree, op.model.k);
  Model model = op.model;
  model.algorithm = {.family = Family::kTree, .tree = &hidden};
  ModelDevice device(model);
  const double start = Now();
  const Inference inference = Infer(device, op, {100000, 100000, {}});
  const double seconds = Now() - start;
  printf("%s: %.1f s\n%s", known.name, seconds, InferenceText(op, inference, {}).c_str());
  ASSERT_TRUE(inference.status.ok()) << inference.status;
  ASSERT_TRUE(inference.algorithm);
  EXPECT_GE(inference.validated, 90000);
  EXPECT_LE(seconds, 60);
  const Model found = WithAlgorithm(op, *inference.algorithm);
  for (const char* name : ClassNames(op)) {
    const Batch batch = MakeDotProductBatch(op.shape(), ClassCases(op, name, 5000000, 500));
    std::vector<uint64_t> of_model(500), of_found(500);
    Simulate(model, batch, of_model);
    Simulate(found, batch, of_found);
    EXPECT_EQ(of_model, of_found) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, DevicesTest, testing::ValuesIn(kDevices));
INSTANTIATE_TEST_SUITE_P(DISABLED_Slow, DevicesTest, testing::ValuesIn(kSlowDevices));

// The text has the lines of the tree, what is fixed and by what, and what is open.
TEST(InferTreeTest, Text) {
  const Known& known = kDevices[1];
  const Operation& op = *FindUnlisted(known.op);
  const Tree hidden = TreeFromText(known.tree, op.model.k);
  Model model = op.model;
  model.algorithm = {.family = Family::kTree, .tree = &hidden};
  ModelDevice device(model);
  const Inference inference = Infer(device, op, {50000, 20000, {}});
  ASSERT_TRUE(inference.algorithm);
  ASSERT_EQ(inference.algorithm->family, Family::kTree);
  const std::string text = InferenceText(op, inference, {});
  for (const std::string& line : TreeLines(*inference.algorithm->tree)) {
    EXPECT_THAT(text, HasSubstr(line.substr(0, 40)));
  }
  EXPECT_THAT(text, HasSubstr("fixed"));
  // A node that was not measured has no label.
  Inference unmeasured = inference;
  unmeasured.nodes.clear();
  EXPECT_EQ(NodeText(unmeasured, *inference.structure->tree), "");
}

}  // namespace
}  // namespace mmadiff
