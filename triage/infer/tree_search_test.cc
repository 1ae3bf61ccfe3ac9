// Hidden trees are found from their answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "sim/parameter.h"
#include "sim/simulate.h"
#include "sim/tree/tree_text.h"
#include "sim/unlisted.h"
#include "triage/infer/experiments.h"
#include "triage/infer/testing/hidden_tree.h"
#include "triage/infer/tree_finder.h"
#include "triage/infer/tree_questions.h"
#include "triage/model_device.h"

namespace mmadiff {
namespace {

constexpr double kSeconds = 60;  // processor time for one tree
constexpr int64_t kBudget = 100000;
constexpr int kRounds = 6;  // each ends with fresh cases

double Now() { return static_cast<double>(clock()) / CLOCKS_PER_SEC; }

std::string Text(const Tree& tree) {
  std::string text;
  for (size_t i = 0; i < tree.nodes.size(); ++i) text += NodeText(tree, static_cast<int>(i)) + "\n";
  return text + ShapeText(tree) + "\n";
}

Model ModelOf(const Operation& op, const Tree& tree) {
  Model model = op.model;
  model.algorithm = {.family = Family::kTree, .tree = &tree};
  return model;
}

// Cases that nobody asked about before.
std::vector<DotProductCase> FreshCases(const Operation& op, const Structure& structure,
                                       size_t count, uint64_t seed) {
  std::vector<DotProductCase> dots =
      MixedQuestions(op, structure, static_cast<int>(count / 2), 1000 + seed);
  const std::vector<const char*> names = ClassNames(op);
  for (const char* name : names) {
    const auto some = ClassCases(op, name, 5000000 + seed * 100000, count / 2 / names.size() + 1);
    dots.insert(dots.end(), some.begin(), some.end());
  }
  return dots;
}

// Up to 200 of the cases in which the models differ.
std::vector<DotProductCase> Differing(const Model& x, const Model& y, const Operation& op,
                                      const std::vector<DotProductCase>& dots) {
  const Batch batch = MakeDotProductBatch(op.shape(), dots);
  std::vector<uint64_t> of_x(dots.size()), of_y(dots.size());
  Simulate(x, batch, of_x);
  Simulate(y, batch, of_y);
  std::vector<DotProductCase> differing;
  for (size_t i = 0; i < dots.size() && differing.size() < 200; ++i) {
    if (of_x[i] != of_y[i]) differing.push_back(dots[i]);
  }
  return differing;
}

// Whether the tree is found: `cases` fresh cases agree.
bool IsFound(const Operation& op, const Tree& hidden, size_t cases, std::string* text) {
  const Model model = ModelOf(op, hidden);
  ModelDevice device(model);
  Asker asker(device, op, kBudget);
  const auto structure = FindStructure(asker);
  if (!structure.ok() || !structure->tree) {
    *text = "no structure: " + structure->why_not;
    return false;
  }
  const double start = Now();
  const auto stop = [&] { return Now() - start > kSeconds; };
  TreeFinder finder(asker, op, *structure);
  for (int round = 0; round < kRounds; ++round) {
    const absl::StatusOr<bool> found = finder.Find(stop);
    const Algorithm algorithm = finder.algorithm();
    *text = Text(*algorithm.tree);
    if (!found.ok() || !*found) return false;
    const size_t count = round + 1 == kRounds ? cases : std::max<size_t>(cases, 20000);
    const auto differing = Differing(model, WithAlgorithm(op, algorithm), op,
                                     FreshCases(op, *structure, count, round));
    if (differing.empty()) return true;
    if (!asker.Ask("validation", differing).ok()) return false;
  }
  return false;
}

int Found(int count, int most, size_t cases) {
  int found = 0;
  for (int n = 0; n < count; ++n) {
    std::mt19937_64 random(1000 + n);
    const Operation& op = RandomOperation(most, random);
    const Tree hidden = HiddenTree(op, random);
    EXPECT_EQ(WhyInvalid(ModelOf(op, hidden)), "") << n;
    const double start = Now();
    std::string text;
    const bool is_found = IsFound(op, hidden, cases, &text);
    found += is_found;
    printf("%d %s %.1f s %s\n", n, op.name.c_str(), Now() - start,
           is_found ? "found" : "not found");
    if (!is_found) printf("hidden\n%sbest\n%s", Text(NormalTree(hidden)).c_str(), text.c_str());
    fflush(stdout);
  }
  printf("found %d of %d\n", found, count);
  return found;
}

TEST(TreeSearchTest, HiddenTrees) { EXPECT_EQ(Found(9, 16, 20000), 9); }

// With more than 32 products a minute of processor time is often too little.
TEST(TreeSearchTest, DISABLED_ManyHiddenTrees) { EXPECT_GE(Found(300, 64, 100000), 210); }

bool EveryNodeAdds(const SummationTree& tree) {
  return tree.leaf >= 0 ||
         (tree.children.size() > 1 && std::ranges::all_of(tree.children, EveryNodeAdds));
}

// In trees with sums that lose nothing, the leaves inside different nodes may be the same.
TEST(TreeSearchTest, NodesOfOneTerm) {
  for (int n = 0; n < 150; ++n) {
    std::mt19937_64 random(1000 + n);
    const Operation& op = RandomOperation(64, random);
    const Tree hidden = HiddenTree(op, random);
    ModelDevice device(ModelOf(op, hidden));
    Asker asker(device, op, kBudget);
    const auto structure = FindStructure(asker);
    ASSERT_TRUE(structure.ok()) << structure.status();
    EXPECT_TRUE(!structure->tree || EveryNodeAdds(*structure->tree)) << n;
  }
}

// A tree written by hand: products rounded, a chain in f32, the result rounded to bf16.
TEST(TreeSearchTest, ChainRoundedAgain) {
  const Operation& op = *FindUnlisted("unlisted/k8.bf16.bf16.bf16.f32");
  const Tree hidden = TreeFromText(
      "node mul to=bf16\nnode add to=f32\nnode out to=bf16\n"
      "tree out(fold add(_ mul(@)) over k0..7 from c)",
      op.model.k);
  std::string text;
  EXPECT_TRUE(IsFound(op, hidden, 20000, &text)) << text;
}

// Every sum is rounded to f32, then to the accumulator's bf16.
TEST(TreeSearchTest, AccumulatorRoundedTwice) {
  for (const char* name : {"unlisted/k4.f32.f16.f16.f32", "unlisted/k8.f32.f16.f16.f32"}) {
    const Operation& op = *FindUnlisted(name);
    const Tree hidden = TreeFromText(
        "node add to=f32\nnode acc to=bf16\nnode out to=f32\n"
        "tree out(fold acc(add(_ @)) over k0.. from acc(c))",
        op.model.k);
    std::string text;
    EXPECT_TRUE(IsFound(op, hidden, 20000, &text)) << text;
  }
}

// The tree found has no node that changes no answer: one rule for all sums.
TEST(TreeSearchTest, SmallestTree) {
  const Operation& op = *FindUnlisted("unlisted/k8.f32.f16.f16.f32");
  const Tree hidden = TreeFromText(
      "node same to=f64\nnode t to=f32 output_rounding=nearest_away\n"
      "tree reduce t(k0..7 same(c) /3)",
      op.model.k);
  std::string text;
  ASSERT_TRUE(IsFound(op, hidden, 20000, &text)) << text;
  EXPECT_EQ(text.find("node", 1), std::string::npos) << text;
}

}  // namespace
}  // namespace mmadiff
