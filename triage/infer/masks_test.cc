// The tree of devices that add as a tree says, and of every family.
#include "triage/infer/masks.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "sim/word.h"
#include "triage/infer/search.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

// Adds f32 words along a tree: the operands of a node are cut to `kept` bits below the largest, or
// added as they are (kept 0), and the sum is rounded to f32 toward zero.
class TreeDevice : public Device {
 public:
  TreeDevice(SummationTree tree, int kept) : tree_(std::move(tree)), kept_(kept) {}

  std::string name() const override { return "tree"; }
  Identity identity() const override { return Identity::Named("test"); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    for (int64_t i = 0; i < batch.dot_products(); ++i) {
      const DotProductCase dot = Extract(batch, i);
      const __float128 sum = Sum(tree_, op.model, dot);
      const float f = static_cast<float>(sum);
      d.push_back(std::bit_cast<uint32_t>(f));
    }
    return absl::OkStatus();
  }

 private:
  static double Number(const Format& f, uint64_t word) {
    const Unpacked u = Decode(f, word);
    const double x = std::ldexp(static_cast<double>(u.significand), u.exponent - f.fraction_bits);
    return u.negative ? -x : x;
  }

  __float128 Sum(const SummationTree& t, const Model& m, const DotProductCase& dot) const {
    if (t.leaf == m.k) return Number(m.c, dot.c);
    if (t.leaf >= 0) return Number(m.a, dot.a[t.leaf]) * Number(m.b, dot.b[t.leaf]);
    std::vector<__float128> operands;
    double largest = 0;
    for (const SummationTree& child : t.children) {
      operands.push_back(Sum(child, m, dot));
      largest = std::max(largest, std::fabs(static_cast<double>(operands.back())));
    }
    if (largest == 0) return 0;
    __float128 sum = 0;
    const double unit = std::ldexp(1.0, std::ilogb(largest) - kept_);
    for (const __float128 x : operands) {
      sum += kept_ == 0 ? x : std::trunc(static_cast<double>(x) / unit) * unit;
    }
    return static_cast<float>(sum);
  }

  const SummationTree tree_;
  const int kept_;
};

const Operation& F16() { return *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32"); }

SummationTree TreeOf(Device& device, const Operation& op, int64_t* asked = nullptr) {
  Asker asker(device, op, 100000);
  const absl::StatusOr<Structure> found = FindStructure(asker);
  EXPECT_TRUE(found.ok()) << found.status();
  if (asked != nullptr) *asked = asker.asked();
  if (!found.ok() || !found->tree) return {};
  return *found->tree;
}

// Any tree over the leaves, as FindStructure() sorts it.
SummationTree RandomTree(std::vector<int> leaves, std::mt19937_64& random) {
  if (leaves.size() == 1) return {leaves[0]};
  SummationTree tree;
  const size_t most = std::min<size_t>(leaves.size(), 6);
  std::vector<std::vector<int>> parts(2 + random() % (most - 1));
  std::shuffle(leaves.begin(), leaves.end(), random);
  for (size_t i = 0; i < leaves.size(); ++i) {
    parts[i < parts.size() ? i : random() % parts.size()].push_back(leaves[i]);
  }
  for (const std::vector<int>& part : parts) tree.children.push_back(RandomTree(part, random));
  std::ranges::sort(tree.children, {}, [](const SummationTree& t) { return LeavesOf(t).front(); });
  return tree;
}

TEST(MasksTest, AnyTreeWhoseNodesCut) {
  std::mt19937_64 random(1);
  std::vector<int> leaves(17);
  std::iota(leaves.begin(), leaves.end(), 0);
  for (int n = 0; n < 200; ++n) {
    const SummationTree tree = RandomTree(leaves, random);
    TreeDevice device(tree, 20 + n % 16);
    EXPECT_EQ(TreeText(TreeOf(device, F16()), 16), TreeText(tree, 16)) << n;
  }
}

// A node of two operands that loses nothing cannot be told from one of three: only wider ones.
TEST(MasksTest, NodesThatLoseNothing) {
  SummationTree three, five, root;
  for (const int leaf : {0, 1, 2}) three.children.push_back({leaf});
  five.children = {three};
  for (const int leaf : {3, 4, 5, 6}) five.children.push_back({leaf});
  root.children = {five};
  for (int leaf = 7; leaf <= 16; ++leaf) root.children.push_back({leaf});
  TreeDevice device(root, 0);
  EXPECT_EQ(TreeText(TreeOf(device, F16()), 16), "c + ((k0..2) + k3..6) + k7..15");
}

TEST(MasksTest, Families) {
  struct {
    Algorithm algorithm;
    const char* tree;
  } const kCases[] = {
      {{.family = Family::kFmaChain, .output_fraction_bits = 23}, "c, then k0..15 one by one"},
      {{.family = Family::kFmaChain, .order = Order::kDescending, .output_fraction_bits = 23},
       "c, then k15..0 one by one"},
      {{.family = Family::kFmaChain,
        .grouping = Grouping::kEvenOdd,
        .addend_joins = AddendJoins::kLastAdd,
        .output_fraction_bits = 23},
       "c + ((k0, then k2..14 by 2 one by one) + (k1, then k3..15 by 2 one by one))"},
      {{.family = Family::kPairwiseSum, .terms = 8, .output_fraction_bits = 23},
       "(c + (((k0 + k1) + (k2 + k3)) + ((k4 + k5) + (k6 + k7)))) + "
       "(((k8 + k9) + (k10 + k11)) + ((k12 + k13) + (k14 + k15)))"},
      {{.family = Family::kFusedSum, .terms = 16, .fraction_bits = 25, .output_fraction_bits = 23},
       "c + k0..15"},
      {{.family = Family::kFusedSum,
        .terms = 8,
        .grouping = Grouping::kPairsOfFour,
        .addend_joins = AddendJoins::kLastAdd,
        .fraction_bits = 25,
        .output_fraction_bits = 23},
       "c + ((k0 + k1 + k4 + k5 + k8 + k9 + k12 + k13) + k2 + k3 + k6 + k7 + k10 + k11 + k14 + "
       "k15)"},
      {{.family = Family::kExactSum, .terms = 4, .output_fraction_bits = 23},
       "(((c + k0..3) + k4..7) + k8..11) + k12..15"},
      {{.family = Family::kTwoStageSum,
        .terms = 8,
        .fraction_bits = 24,
        .sum_fraction_bits = 31,
        .output_fraction_bits = 23},
       "(c + k0..7) + k8..15"},
  };
  for (const auto& c : kCases) {
    ModelDevice device(WithAlgorithm(F16(), c.algorithm));
    EXPECT_EQ(TreeText(TreeOf(device, F16()), 16), c.tree) << Describe(c.algorithm);
  }
}

// Every structure of every family: rounding, digits and flushing do not change what is seen.
TEST(MasksTest, RoundingDoesNotShow) {
  for (const Algorithm& start : StartsOf(F16())) {
    const std::vector<Algorithm> all = StructuresOf(F16(), start);
    for (size_t i = 0; i < all.size(); i += 9) {
      const Algorithm& a = all[i];
      ModelDevice plain(WithAlgorithm(F16(), a));
      const SummationTree tree = TreeOf(plain, F16());
      for (const char* name : {"output_rounding", "align_rounding", "output_subnormals"}) {
        const Parameter* p = FindParameter(a.family, name);
        for (int value = 0; p != nullptr && value < static_cast<int>(p->values.size()); ++value) {
          Algorithm other = a;
          p->set(other, value);
          ModelDevice device(WithAlgorithm(F16(), other));
          ASSERT_EQ(TreeText(TreeOf(device, F16()), 16), TreeText(tree, 16)) << Describe(other);
        }
      }
    }
    if (start.family == Family::kTwoStageSum) break;
  }
}

TEST(MasksTest, LongSums) {
  Instruction instruction = *F16().instruction;
  instruction.shape = {1, 1, 256, 1};
  Operation op = F16();
  op.instruction = &instruction;
  op.model.k = 256;
  struct {
    Algorithm algorithm;
    const char* tree;
    int64_t most;
  } const kCases[] = {
      {{.family = Family::kFusedSum, .terms = 128, .fraction_bits = 25, .output_fraction_bits = 23},
       "(c + k0..127) + k128..255",
       10000},
      {{.family = Family::kFmaChain, .output_fraction_bits = 23},
       "c, then k0..255 one by one",
       10000},
  };
  for (const auto& c : kCases) {
    ModelDevice device(WithAlgorithm(op, c.algorithm));
    int64_t asked = 0;
    EXPECT_EQ(TreeText(TreeOf(device, op, &asked), 256), c.tree);
    EXPECT_LE(asked, c.most);
  }
}

TEST(MasksTest, NoTreeWhereNothingMasks) {
  const Operation& narrow = *FindOperation("x86/vpdpbusd");
  ModelDevice device(narrow.model);
  Asker asker(device, narrow, 1000);
  const absl::StatusOr<Structure> found = FindStructure(asker);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->tree);
  EXPECT_EQ(found->why_not, "integer sums mask nothing");
}

}  // namespace
}  // namespace mmadiff
