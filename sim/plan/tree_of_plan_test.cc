// Trees of plans against the executor of plans, and some against both slow executors.
#include "sim/plan/tree_of_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/own_model.h"
#include "sim/parameter.h"
#include "sim/plan/execute.h"
#include "sim/plan/why_no_plan.h"
#include "sim/reference/plan.h"
#include "sim/reference/reference.h"
#include "sim/simulate.h"
#include "sim/testing/plan_operands.h"
#include "sim/testing/plans.h"
#include "sim/tree/model_text.h"

namespace mmadiff {
namespace {

using reference::Between;
using reference::OneIn;
using reference::Random;
using testing::HasSubstr;

constexpr PlanFactors kOnes = {.alpha = true, .beta = true};

// Elements of each plan that are compared.
int64_t ElementsOfPlan() {
  const char* const text = std::getenv("MMADIFF_ELEMENTS");
  return text == nullptr ? 20'000 : std::atoll(text);
}

Plan PlanOf(const std::string& text) {
  std::string error;
  const std::optional<Plan> plan = ParsePlan(text, &error);
  EXPECT_TRUE(plan) << text << ": " << error;
  return plan.value_or(Plan());
}

constexpr int64_t kKs[] = {1, 7, 32, 40, 64, 129, 200, 224, 256};

struct Count {
  int64_t elements = 0, nans = 0;
};

// Compares all elements of the plan and the tree.
void Compare(const Plan& plan, const Model& tree, int64_t rows, int64_t k, Random& random,
             Count* count) {
  const std::string name = PlanText(plan) + ", k = " + std::to_string(k);
  ASSERT_EQ(WhyInvalid(tree), "") << name;
  const Operands operands(plan, rows, k, random);
  ASSERT_EQ(WhyNotMatrices(plan, operands.q), "") << name;
  const std::vector<uint64_t> want = ExecuteAll(plan, operands.q);
  const Batch batch = operands.BatchFor(tree);
  std::vector<uint64_t> got(want.size());
  Simulate(tree, batch, got);
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i], want[i]) << std::hex << got[i] << " for " << want[i] << ' ' << std::dec << i
                               << ' ' << name << '\n'
                               << ModelFileText(tree);
    count->nans += IsNan(tree.d, want[i]);
  }
  count->elements += std::ssize(want);
  const int64_t one = random() % want.size();
  const DotProductCase dot = Extract(batch, one);
  EXPECT_EQ(ReferenceDotProduct(tree, dot), want[one]) << name;
  EXPECT_EQ(ReferencePlan(PlanText(plan), operands.q, one / rows, one % rows), want[one]) << name;
}

// ---- Texts.

void AddPlansIn(const std::string& file, std::set<std::string>& plans) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  const std::string all = text.str();
  EXPECT_NE(all, "") << file;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find_first_of("\t\n\"'`", at), all.size());
    const std::string token = all.substr(at, end - at);
    at = end + 1;
    std::string error;
    if (token.find(" | ") == token.npos || token.find('/') == token.npos) continue;
    if (const std::optional<Plan> plan = ParsePlan(token, &error)) plans.insert(PlanText(*plan));
  }
}

// Those of public kernels and of libraries that were measured.
std::set<std::string> PlansOfCorpus() {
  std::set<std::string> plans;
  AddPlansIn("corpus/plans/kernels.tsv", plans);
  for (const auto& entry : std::filesystem::directory_iterator("corpus/plans/recordings")) {
    AddPlansIn(entry.path(), plans);
  }
  for (const auto& [kernel, text] : kKernelPlans) plans.insert(PlanText(PlanOf(text)));
  return plans;
}

// Those of the pages and tests, and the texts that the tests put together.
std::set<std::string> PlansOfPages() {
  std::set<std::string> plans;
  for (const char* file :
       {"docs/matmul.md", "docs/python.md", "README.md", "sim/plan/execute_test.cc",
        "sim/plan/find_test.cc", "sim/plan/plan_test.cc", "sim/plan/race_test.cc"}) {
    AddPlansIn(file, plans);
  }
  constexpr const char* kOperations[] = {"sm_90/fma.rn.f32", "sm_90/wgmma.m64n8k32.f32.e4m3.e4m3",
                                         "x86/tdpbf16ps", "gfx942/v_mfma_f32_16x16x32_fp8_fp8"};
  constexpr const char* kStages[] = {"every 3: add",
                                     "every 9 halved: add",
                                     "strided 4 of 1 unrolled 8: tree",
                                     "every 96 halved 16: add as bf16",
                                     "into 3 of 8: add held f16",
                                     "into 3 of 8 floor: tree",
                                     "into 3 of 8 even: pairs as f16 held bf16",
                                     "strided 4 of 2: fma (a*b)",
                                     "every 9 last 12: add",
                                     "every 9 fit: add",
                                     "strided 8 of 1: pairs 2 4 1 | tail 8",
                                     "tail 4",
                                     "at 1 5 70: fma a*b from zero as f64 held f32",
                                     "at 1 5 70: add from zero as f64 held f32",
                                     "cut 8 | residue 3",
                                     "every 2: add from zero | every 8: add | into 2 of 8: tree",
                                     "every 2: fma alpha | every 8: add from c | tail 3",
                                     "every 8: add alpha from zero held f16",
                                     "every 8: fma alpha from beta*c",
                                     "every 8: add alpha from fma beta*c as bf16",
                                     "every 8: add from fma beta*c",
                                     "every 8: add from c held f16 | tail 3",
                                     "every 16: tree held f16 | tail 5",
                                     "every 32: add as e4m3",
                                     "every 32: add held e5m2 | tail 3",
                                     "residue 32 | into 3 of 64: add as f16",
                                     "strided 8 of 1: tree | tail 200"};
  for (const std::string operation : kOperations) {
    for (const std::string stages : kStages) {
      for (const char* result :
           {"f32", "bf16", "e5m2", "alpha*sum | f64", "sum + bias | f32", "b*(a*sum) | bf16"}) {
        plans.insert(PlanText(PlanOf(operation + " | " + stages + " | " + result)));
      }
      if (stages.find("from") != stages.npos) continue;  // one addend
      for (const char* result : {"sum + beta*c | e4m3", "fma(beta, c, alpha*sum) | e5m2"}) {
        plans.insert(PlanText(PlanOf(operation + " | " + stages + " | " + result)));
      }
    }
  }
  return plans;
}

// Whether the text has a factor of sums other than alpha and beta, or a bias.
bool HasOtherOperands(const std::string& text) {
  constexpr const char* kWords[] = {"fma (a*b)", "fma a*b", "fma(a", "(a*b)*",
                                    "(a*sum)",   "(b*sum)", "bias"};
  std::string without = text;
  const size_t alpha = without.find("fma(alpha");
  if (alpha != without.npos) without.erase(alpha, 9);
  return std::ranges::any_of(kWords,
                             [&](const char* word) { return without.find(word) != without.npos; });
}

struct Tally {
  int trees = 0;
  std::map<std::string, int> others;  // plans that are no tree, by reason
  std::map<std::string, int> not_at;  // k for which trees are none, by reason
  int64_t elements = 0, nans = 0;
};

// The reason without numbers and names.
std::string Kind(const std::string& why) {
  for (const char* kind : {"scales multiply sums", "scales multiply the sum", "a bias",
                           "share a scale", "no products", "terms and sums"}) {
    if (why.find(kind) != why.npos) return kind;
  }
  return why;
}

// Compares so many elements of a plan that is a tree: at all kKs, then at random k.
void CompareAtManyKs(const Plan& plan, int64_t elements, Random& random, Tally& tally) {
  Count count;
  for (size_t n = 0; n < std::size(kKs) || count.elements < elements; ++n) {
    const int64_t k = n < std::size(kKs) ? kKs[n] : Between(random, 1, kMaxK);
    std::string why;
    const std::optional<Model> tree = TreeOfPlan(plan, k, &why, kOnes);
    EXPECT_EQ(tree.has_value(), why.empty()) << PlanText(plan);
    if (!tree && n < std::size(kKs)) ++tally.not_at[Kind(why)];
    if (tree) Compare(plan, *tree, elements < 10'000 ? 6 : 32, k, random, &count);
    if (testing::Test::HasFailure()) return;
  }
  tally.elements += count.elements;
  tally.nans += count.nans;
}

Tally TallyOf(const std::set<std::string>& texts, int64_t elements) {
  Tally tally;
  Random random(1);
  for (const std::string& text : texts) {
    const Plan plan = PlanOf(text);
    std::string why;
    const bool is_tree = std::ranges::any_of(
        kKs, [&](int64_t k) { return TreeOfPlan(plan, k, &why, kOnes).has_value(); });
    EXPECT_NE(is_tree, HasOtherOperands(text)) << text << ": " << why;
    if (is_tree) {
      ++tally.trees;
      CompareAtManyKs(plan, elements, random, tally);
    } else {
      ++tally.others[Kind(why)];
    }
    if (testing::Test::HasFailure()) break;
  }
  return tally;
}

void Print(const char* what, const Tally& tally) {
  std::cout << what << ": " << tally.trees << " trees, " << tally.elements << " elements, "
            << tally.nans << " NaNs\n";
  for (const auto& [why, count] : tally.others)
    std::cout << "  no tree: " << why << ' ' << count << '\n';
  for (const auto& [why, count] : tally.not_at)
    std::cout << "  no tree at a k: " << why << ' ' << count << '\n';
}

using Counts = std::map<std::string, int>;

TEST(TreeOfPlan, CorpusAsExecuted) {
  const Tally tally = TallyOf(PlansOfCorpus(), ElementsOfPlan());
  Print("corpus", tally);
  EXPECT_EQ(tally.trees, 50);
  EXPECT_EQ(tally.others,
            (Counts{{"a bias", 2}, {"scales multiply sums", 3}, {"scales multiply the sum", 4}}));
  // MXFP8 at 5 of 9 k, "cut 64" at 4 k.
  EXPECT_EQ(tally.not_at, (Counts{{"no products", 4}, {"share a scale", 5}}));
  EXPECT_LT(tally.nans, tally.elements / 4);
}

TEST(TreeOfPlan, PagesAndTestsAsExecuted) {
  const Tally tally = TallyOf(PlansOfPages(), 300);
  Print("pages and tests", tally);
  EXPECT_EQ(tally.trees, 594);
  EXPECT_EQ(
      tally.others,
      (Counts{{"a bias", 104}, {"scales multiply sums", 60}, {"scales multiply the sum", 100}}));
  EXPECT_EQ(tally.not_at,
            (Counts{{"no products", 52}, {"share a scale", 5}, {"terms and sums", 208}}));
  EXPECT_LT(tally.nans, tally.elements / 4);
}

// ---- All arithmetic.

// Stages and a result that sums of the model can have.
std::string RandomStages(const Model& m, Random& random) {
  const auto number = [&](int most) { return std::to_string(Between(random, 1, most)); };
  const std::string size = number(m.k + 3), d = m.d.name;
  const bool wide = m.d.bits > 16 && !IsInteger(m.d);
  std::string text;
  if (OneIn(random, 3)) text += " | residue " + number(m.k + 2);
  if (IsInteger(m.d)) return text + " | every " + size + ": add | tail " + number(m.k) + " | " + d;
  constexpr const char* kJoins[] = {
      ": add",         ": tree",         ": pairs held f16", ": add from zero as bf16",
      ": add as e5m2", ": add held e4m3"};
  if (OneIn(random, 2)) text += " | every " + size + kJoins[random() % std::size(kJoins)];
  if (OneIn(random, 3)) text += " | strided 3 of " + size + kJoins[random() % std::size(kJoins)];
  if (OneIn(random, 3)) text += " | tail " + number(m.k);
  constexpr const char* kResults[] = {
      "f32", "f16", "e4m3", "e5m2", "bf16", "sum + beta*c | f64", "fma(beta, c, sum) | f16"};
  return text + " | " + (wide ? kResults[random() % std::size(kResults)] : d);
}

int64_t RandomK(const Model& m, Random& random) {
  const int64_t k = Between(random, 1, std::min(3 * m.k + 3, kMaxK));
  if (m.scale_block == 0) return k;
  return std::max<int64_t>(k / m.scale_block, 1) * m.scale_block;
}

// Every row of the tables, with each change of one parameter and each reading, mostly with missing
// products.
TEST(TreeOfPlan, EveryArithmeticAsExecuted) {
  Random random(2);
  Count count;
  int plans = 0;
  std::map<std::string, int> others;
  for (const Operation* op : DistinctOperations()) {
    std::vector<std::string> names(4, op->name);
    if (op->model.algorithm.family != Family::kTree &&
        op->model.algorithm.family != Family::kNone) {
      for (const Neighbour& n : AllNeighbours(op->model)) names.push_back(op->name + ":" + Name(n));
    }
    for (const std::string& name : names) {
      std::string error, why;
      const std::optional<Plan> plan = ParsePlan(name + RandomStages(op->model, random), &error);
      if (!plan) continue;
      const int64_t k = RandomK(op->model, random);
      const std::optional<Model> tree = TreeOfPlan(*plan, k, &why, kOnes);
      ++plans;
      if (tree) Compare(*plan, *tree, 5, k, random, &count);
      const size_t after = why.starts_with(name) ? name.size() + 1 : 0;
      if (!tree) ++others[Kind(why.substr(after))];
      if (HasFailure()) return;
    }
  }
  std::cout << plans << " plans, " << count.elements << " elements, " << count.nans << " NaNs\n";
  for (const auto& [why, n] : others) std::cout << "  no tree: " << why << ' ' << n << '\n';
  EXPECT_GT(count.elements, 350'000);
  EXPECT_LT(count.nans, count.elements / 4);
  for (const auto& [why, n] : others) {
    EXPECT_THAT(why, testing::AnyOf("adds pairs in 16 bits", "has far products",
                                    "reads its addend by a rule", HasSubstr("zero products"),
                                    HasSubstr("reads scales by a rule"),
                                    HasSubstr("sign of a zero under scales"), "share a scale",
                                    "a range takes a block of scales apart", "terms and sums"));
  }
}

// "own/NAME" with a tree of 4 products.
std::string OwnTree(const std::string& name, const std::string& lines) {
  TextError error;
  const std::optional<Model> model =
      ParseModel("mmadiff model 1\nk 4\na bf16\nb bf16\nc f32\nd f32\n" + lines, &error);
  EXPECT_TRUE(model) << error.what;
  return model ? AddOwnModel(name, "1", *model)->name : "";
}

// Missing products where they act, as in no row of the tables.
TEST(TreeOfPlan, OwnTreesWithMissingProducts) {
  Random random(3);
  for (const std::string& operation :
       {OwnTree("complement",
                "node step fraction_bits=24 ones_complement=yes to=f32\n"
                "tree step(k3 k2 c k1 k0)"),
        OwnTree("offers",
                "node inner to=f32\n"
                "node step fraction_bits=9 zero_word=raises to=f32\nnode last to=f32\n"
                "tree last(c step(k0 inner(k1) inner(k2 k3)))"),
        OwnTree("partial",
                "node pair fraction_bits=9 align_rounding=down\n"
                "node step fraction_bits=12 to=f32\n"
                "tree step(pair(k0 k1) pair(k2 k3) c)")}) {
    Count count;
    for (const char* stages : {" from c | f32", " | f32", " | every 3: add from c | f32"}) {
      const Plan plan = PlanOf(operation + stages);
      for (const int64_t k : {1, 2, 3, 5, 6, 9}) {
        std::string why;
        const std::optional<Model> tree = TreeOfPlan(plan, k, &why);
        ASSERT_TRUE(tree) << why;
        for (int n = 0; n < 4; ++n) Compare(plan, *tree, 20, k, random, &count);
        if (HasFailure()) return;
      }
    }
    EXPECT_LT(count.nans, count.elements / 4);
  }
}

// ---- Texts of trees and reasons.

std::string ShapeOf(const std::string& text, int64_t k, const PlanFactors& factors = {}) {
  std::string why;
  const std::optional<Model> tree = TreeOfPlan(PlanOf(text), k, &why, factors);
  if (!tree) return why;
  TextError error;
  const std::string file = ModelFileText(*tree);
  const std::optional<Model> read = ParseModel(file, &error);
  EXPECT_TRUE(read && SameModel(*read, *tree)) << file << error.what;
  return file.substr(file.find("\nd ") + 1);
}

TEST(TreeOfPlan, IsWrittenAsOneWould) {
  const std::string fma = "d f32\nnode fma to=f32 nan_rule=propagate\ntree fold fma(@ _) over ";
  EXPECT_EQ(ShapeOf("x86/vfmadd231ss from c | f32", 3), fma + "k0..2 from c\n");
  EXPECT_EQ(ShapeOf("x86/vfmadd231ss | every 4: add | f32", 8),
            fma + "k0..3 fold fma(@ _) over k4..7 from 0 from 0\n");
  const std::string step =
      " to=f32 fraction_bits=25 output_rounding=toward_zero "
      "exponent_floor=-133 zero_sign=positive\n";
  EXPECT_EQ(ShapeOf("sm_90/wgmma.m64n8k16.f32.f16.f16 | cut 8 | into 2 of 16: add | f16", 45),
            "d f16\nnode step" + step +
                "node join to=f32\nnode to_f16 to=f16\n"
                "tree to_f16(join(step(0 k32..39) step(step(0 k0..15) k16..31)))\n");
  EXPECT_EQ(
      ShapeOf("sm_90/wgmma.m64n8k16.f32.f16.f16 | every 32: add as e5m2 | sum + beta*c | bf16", 48),
      "d bf16\nnode step" + step +
          "node clamp to=e7m23fn output_rounding=to_odd overflow=saturate\n"
          "node to_e5m2 to=e5m2 overflow=saturate\nnode join to=f32\nnode to_bf16 to=bf16\n"
          "tree to_bf16(join(join(to_e5m2(clamp(step(0 k32..47))) "
          "to_e5m2(clamp(step(step(0 k0..15) k16..31)))) c))\n");
  // A zero addend offers an exponent, so the first +0 is a word.
  EXPECT_THAT(ShapeOf("gfx942/v_mfma_f32_16x16x32_fp8_fp8 | f32", 5),
              HasSubstr("tree out(sum(both(half(0) half(0)) "
                        "out(sum(both(half(k0..4:2 0) half(k1 k3 0)) zero(0)))))\n"));
}

TEST(TreeOfPlan, SaysWhyThereIsNone) {
  const std::string fma = "sm_90/fma.rn.f32",
                    mx = "sm_100/tcgen05.mma.m128n8k32.mxf8f6f4.f32.e4m3.e4m3.ue8m0";
  const std::string mxf4 = "sm_100/tcgen05.mma.m128n8k64.mxf4nvf4.f32.e2m1.e2m1.ue8m0.4x";
  const std::string bca =
      OwnTree("bca", "node step nan_rule=propagate_bca to=f32\ntree step(k3 k2 k1 k0 c)");
  const std::tuple<std::string, int64_t, const char*> kNone[] = {
      {fma + " | every 4: fma (a*b) | f32", 8, "scales multiply sums, and no node does"},
      {fma + " | every 4: fma a*b | f32", 8, "scales multiply sums, and no node does"},
      {fma + " | b*(a*sum) | f32", 8, "scales multiply the sum, and no node does"},
      {fma + " | fma(a*b, sum, bias) | f32", 8, "scales multiply the sum, and no node does"},
      {fma + " | sum + bias | f32", 8, "a bias is a second addend"},
      {fma + " | alpha*sum | f32", 8, "alpha multiplies sums, and no node multiplies a sum"},
      {fma + " | every 4: add alpha | f32", 8, "alpha multiplies sums, and no node"},
      {fma + " | every 4: add from c | sum + beta*c | f32", 8, "the addend c is added twice"},
      {fma + " | f32", 0, "it has no products"},
      {fma + " | cut 8 | f32", 7, "it has no products"},
      {fma + " | f32", 257, "it has 257 products; a tree has at most 256"},
      {mx + " | f32", 40, "32 products share a scale, and k is not a multiple of it"},
      {mx + " | residue 16 | f32", 64, "a range takes a block of scales apart"},
      {"sm_90/wgmma.m64n8k16.f32.f16.f16:zero_term=raises,exponent_floor=none | f32", 17,
       "has missing products, and aligns terms by the exponents of zero products"},
      {mxf4 + ":zero_sign=ieee | f32", 16, "and keeps the sign of a zero under scales"},
      {mxf4 + ":scale_reading=ue4m3 | f32", 16, "and reads scales by a rule"},
      {bca + " | f32", 3, "the first product of a node decides which NaN is kept"},
      {"sm_90/fma.rn.f32:far_product=dropped | f32", 2, "has far products"},
      {"sm_90/fma.rn.f32:addend_reading=nan_zero | f32", 2, "reads its addend by a rule"},
  };
  for (const auto& [text, k, why] : kNone) EXPECT_THAT(ShapeOf(text, k), HasSubstr(why)) << text;
  std::string why;
  const Plan beta = PlanOf(fma + " | sum + beta*c | f32");
  EXPECT_TRUE(TreeOfPlan(beta, 8, &why, {.beta = true}));
  EXPECT_FALSE(TreeOfPlan(beta, 8, &why, {.beta = false}));
  EXPECT_EQ(why, "beta multiplies c, and no node multiplies a sum");
}

}  // namespace
}  // namespace mmadiff
