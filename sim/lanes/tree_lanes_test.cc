// Trees in lanes give the words of the scalar simulator: the tree of every row and of every change
// of one parameter, and random trees.
#include "sim/lanes/tree_lanes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/absent_addend.h"
#include "sim/lanes/lanes.h"
#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/reading.h"
#include "sim/reference/random_dot.h"
#include "sim/reference/random_tree.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"
#include "sim/tree/tree_of.h"
#include "sim/tree/tree_text.h"

namespace mmadiff {
namespace {

using reference::Random;

constexpr int kRows = 24, kColumns = 3;

// Each dot product of a diagonal is of one kind.
Batch RandomBatch(const Model& m, Random& random, int rows) {
  Batch batch;
  batch.Resize({.m = rows, .n = kColumns, .k = m.k, .blocks = 1}, 1);
  for (int i = 0; i < rows; ++i) {
    const DotProductCase dot = reference::RandomDot(m, random);
    std::ranges::copy(dot.a, &batch.a[i * m.k]);
    if (i < kColumns) std::ranges::copy(dot.b, &batch.b[i * m.k]);
    for (int j = 0; j < kColumns; ++j) {
      batch.c[i * kColumns + j] = j == i ? dot.c : reference::RandomDot(m, random).c;
    }
  }
  return batch;
}

// Dot products of every kind, each with its own column.
Batch DotProducts(const Model& m, Random& random, int count) {
  std::vector<DotProductCase> dots;
  for (int i = 0; i < count; ++i) dots.push_back(reference::RandomDot(m, random));
  Batch batch;
  batch.Resize({.m = 1, .n = 1, .k = m.k, .blocks = 1}, count);
  for (int i = 0; i < count; ++i) {
    std::ranges::copy(dots[i].a, &batch.a[i * m.k]);
    std::ranges::copy(dots[i].b, &batch.b[i * m.k]);
    batch.c[i] = dots[i].c;
  }
  return batch;
}

// Whether the model has lanes, which then give the scalar words.
bool Check(const Model& m, Random& random, int count) {
  if (HasReadings(m) || m.scale_block != 0 || IsSparse(m) || !HasLanes(m)) return false;
  for (const Batch& batch : {DotProducts(m, random, count), RandomBatch(m, random, kRows)}) {
    for (const LaneTarget& target : LaneTargets()) {
      if (target.LanesFor(target.WidthFor(m)) == 0) continue;
      std::vector<uint64_t> d(batch.dot_products(), ~0ull);
      target.Simulate(m, batch, d);
      for (int64_t i = 0; i < batch.dot_products(); ++i) {
        const DotProductCase dot = Extract(batch, i);
        EXPECT_EQ(d[i], Simulate(m, dot)) << target.name << " " << Describe(m.algorithm) << "\n"
                                          << reference::Line(m, dot);
        if (testing::Test::HasFailure()) return true;
      }
    }
  }
  return true;
}

TEST(TreeLanes, TreesOfRows) {
  Random random(1);
  int models = 0;
  for (const Operation* op : DistinctOperations()) {
    if (op->model.algorithm.family == Family::kConversion) continue;
    const bool tree = op->model.algorithm.family == Family::kTree;
    std::vector<Model> all = {OneExecution(op->model)};
    for (const Neighbour& n : Neighbours(op->model)) {
      const std::string_view changed = n.single()->parameter->name;
      if (changed == "far_product" || changed == "pair_sum" || changed == "selection") continue;
      all.push_back(OneExecution(WithAlgorithm(*op, n.algorithm)));
    }
    for (const Model& m : all) {
      models += Check(tree ? m : TreeOf(m), random, 64);
      ASSERT_FALSE(HasFailure()) << op->name << Describe(m.algorithm);
    }
  }
  if (LaneTargets().empty()) GTEST_SKIP() << "built without Highway";
  EXPECT_GT(models, 1000);
}

// A random tree of these leaves whose joins have at most two terms.
Branch Joined(std::vector<Branch> leaves, int nodes, Random& random) {
  while (leaves.size() > 1 || leaves[0].push != Push::kJoin) {
    const int at = reference::Between(random, 0, static_cast<int>(leaves.size()) - 1);
    Branch join = {Push::kJoin, reference::Between(random, 0, nodes - 1), {leaves[at]}};
    leaves.erase(leaves.begin() + at);
    if (!leaves.empty() && !reference::OneIn(random, 4)) {
      const int other = reference::Between(random, 0, static_cast<int>(leaves.size()) - 1);
      join.terms.push_back(leaves[other]);
      leaves.erase(leaves.begin() + other);
    }
    leaves.push_back(join);
  }
  return leaves[0];
}

TEST(TreeLanes, FloatTrees) {
  Random random(3);
  const Node even = {.to = &kF32}, positive = {.to = &kF32,
                                               .overflow = NodeOverflow::kIeee,
                                               .zero_sign = NodeZero::kIeee754,
                                               .nan_rule = NodeNan::kQuietPositive};
  const Format* const formats[] = {&kF16, &kBf16, &kE4m3, &kE5m2fnuz, &kTf32, &kF32};
  int narrow = 0;
  for (int round = 0; round < 2000; ++round) {
    const int k = reference::Between(random, 1, 20);
    std::vector<Branch> leaves = {{Push::kAddend}};
    if (reference::OneIn(random, 8)) leaves.push_back({Push::kZero});
    for (int i = 0; i < k; ++i) leaves.push_back({Push::kProduct, i});
    const Tree tree = {{even, positive}, {"even", "positive"}, CodeOf(Joined(leaves, 2, random))};
    const Format& f = *formats[round % std::size(formats)];
    Model m = {f, f, reference::OneIn(random, 4) ? kF16 : kF32, kF32, k, {Family::kTree}};
    m.algorithm.tree = &tree;
    ASSERT_EQ(WhyInvalidTree(m, tree), "");
    narrow += LaneWidthOf(m) == LaneWidth::k32;
    EXPECT_TRUE(Check(m, random, 32) || LaneTargets().empty());
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
  if (LaneTargets().empty()) GTEST_SKIP() << "built without Highway";
  EXPECT_GT(narrow, 1000);
}

TEST(TreeLanes, RandomTrees) {
  struct Formats {
    Format a, b, c, d;
    int k;
  };
  const Formats formats[] = {
      {kF16, kF16, kF32, kF32, 16},   {kE4m3, kE5m2, kF16, kF16, 32},
      {kBf16, kBf16, kF32, kBf16, 8}, {kTf32, kTf32, kF32, kF32, 4},
      {kF32, kF32, kF32, kF32, 7},    {kE4m3fnuz, kE5m2fnuz, kF32, kE4m3fnuz, 16},
      {kE2m1, kE2m3, kF32, kE2m1, 6}, {kF16, kF16, kAbsent, kE4m3, 9},
      {kE4m3, kE4m3, kF32, kE5m2, 64}};
  Random random(2);
  int models = 0;
  for (int round = 0; round < 6000; ++round) {
    const Formats& f = formats[round % std::size(formats)];
    Model m = {f.a, f.b, f.c, f.d, f.k, {Family::kTree}};
    const Tree tree = reference::RandomTree(m, random);
    m.algorithm.tree = &tree;
    if (HasNoAddend(m)) m = WithNeutralAddend(m);
    models += Check(m, random, 32);
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
  if (LaneTargets().empty()) GTEST_SKIP() << "built without Highway";
  EXPECT_GT(models, 1000);
}

}  // namespace
}  // namespace mmadiff
