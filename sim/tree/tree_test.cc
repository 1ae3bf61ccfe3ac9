// Trees: against what was worked out by hand, against the families, against the reference.
#include "sim/tree/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/reference/families.h"
#include "sim/reference/random_dot.h"
#include "sim/reference/random_tree.h"
#include "sim/simulate.h"
#include "sim/tree/tree_of.h"
#include "sim/tree/tree_text.h"

namespace mmadiff {
namespace {

using reference::Random;
using testing::HasSubstr;

struct Formats {
  Format a, b, c, d;
  Format scale = {};
  int block = 0;  // of scales
};
const Formats kHalf = {kF16, kF16, kF32, kF32}, kBf = {kBf16, kBf16, kF32, kF32};

Model ModelOf(const Formats& f, int k, const Tree* tree) {
  Model m = {f.a, f.b, f.c, f.d, k, {Family::kTree}, f.scale, f.block};
  m.algorithm.tree = tree;
  return m;
}

// The simulator and the reference must give `want`.
void Check(const Formats& f, const std::string& text, std::vector<uint64_t> a,
           std::vector<uint64_t> b, uint64_t c, uint64_t want) {
  const int k = f.block == 0 ? static_cast<int>(a.size()) : 2;
  const Tree tree = TreeFromText(text, k);
  const Model m = ModelOf(f, k, &tree);
  ASSERT_EQ(WhyInvalid(m), "") << text;
  const DotProductCase dot = {std::move(a), std::move(b), c};
  EXPECT_EQ(Simulate(m, dot), want) << text;
  EXPECT_EQ(reference::SumOfTree(m, dot), want) << text;
}

TEST(Tree, GivesWhatWasWorkedOutByHand) {
  const std::string fused =
      "node s fraction_bits=25 exponent_floor=-133 to=f32 output_rounding=toward_zero "
      "zero_sign=positive\ntree s(c k0..1)";
  Check(kHalf, fused, {0x3c00, 0x0c00}, {0x3c00, 0x0c00}, 0,
        0x3f800000);  // 1 + 2^-24, 2^-12 = 0c00
  Check(kHalf, fused, {0x3c00, 0x0c00}, {0x3c00, 0x0c00}, 0xbf800000, 0x33800000);  // less 1
  Check(kHalf, "node s fraction_bits=23 to=f32\ntree s(c k0..1)", {0x3c00, 0x0c00},
        {0x3c00, 0x0c00}, 0xbf800000, 0);
  // COMPOSITE.md 8.4: 1 + 2^-11 + 2^-24 tells whether f16 is rounded twice.
  const Formats to_half = {kF16, kF16, kF32, kF16};
  Check(to_half,
        "node s fraction_bits=25 exponent_floor=-133 to=f32 output_rounding=toward_zero "
        "zero_sign=positive\nnode h to=f16\ntree h(s(c k0..1))",
        {0x1000, 0x0c00}, {0x3c00, 0x0c00}, 0x3f800000, 0x3c00);
  Check(to_half, "node s fraction_bits=25 exponent_floor=-133 to=f16\ntree s(c k0..1)",
        {0x1000, 0x0c00}, {0x3c00, 0x0c00}, 0x3f800000, 0x3c01);
  // One's complement: 1 - 2^-20 - one unit; -0 takes a unit, too.
  const std::string rdna = "node s fraction_bits=24 ones_complement=yes to=f32\ntree s(c k0..1)";
  Check(kHalf, rdna, {0x9400, 0x0000}, {0x1400, 0x3c00}, 0x3f800000, 0x3f7fffef);
  Check(kHalf, rdna, {0x9400, 0x8000}, {0x1400, 0x3c00}, 0x3f800000, 0x3f7fffee);
  Check(kHalf, rdna, {0x9400, 0x8000}, {0x1400, 0x3c00}, 0xbf800000,
        0xbf800008);  // the frame of a negative word: no units
  Check(kHalf, rdna, {0x8000, 0x8000}, {0x3c00, 0x3c00}, 0x80000000, 0x80000000);
  Check(kHalf, "node s fraction_bits=24 ones_complement=yes word_shift=2 to=f32\ntree s(c k0..1)",
        {0x9400, 0x0000}, {0x1400, 0x3c00}, 0x3f800000, 0x3f7ffff0);  // a unit is 2^-26
  // 464 and 465 in e4m3: COMPOSITE.md.
  const Formats to_e4m3 = {kF32, kF32, kAbsent, kE4m3};
  Check(to_e4m3, "node q to=e4m3\ntree q(k0)", {0x43e80000}, {0x3f800000}, 0, 0x7e);
  Check(to_e4m3, "node q to=e4m3\ntree q(k0)", {0xc3e88000}, {0x3f800000}, 0, 0xff);
  Check(to_e4m3, "node q to=e4m3 overflow=saturate\ntree q(k0)", {0xc3e88000}, {0x3f800000}, 0,
        0xfe);
  // Integers.
  const Formats ints = {kU8, kS8, kS32, kS32};
  Check(ints, "node s to=s32 overflow=saturate\ntree s(c k0..3)", {255, 255, 255, 255},
        {127, 127, 127, 127}, 0x7fffff00, 0x7fffffff);
  Check(ints, "node s to=s32\ntree s(c k0..3)", {255, 255, 255, 255}, {127, 127, 127, 127},
        0x7fffff00, 0x8001f904);
  // Scales: 6 * 6 + 0.5 * 0.5, scales 1 and 1, then 2 and 4.
  const Formats blocks = {kE2m1, kE2m1, kF32, kF32, kUe4m3, 2};
  const std::string alone = "node g scale=alone\nnode s fraction_bits=1 to=f32\ntree s(c g(k0..1))",
                    added = "node g scale=added\nnode s fraction_bits=1 to=f32\ntree s(c g(k0..1))";
  Check(blocks, alone, {7, 1, 0x38}, {7, 1, 0x38}, 0, 0x42100000);  // 36.25 cut to 36
  Check(blocks, added, {7, 1, 0x38}, {7, 1, 0x38}, 0, 0x42000000);  // cut to 32
  Check(blocks, alone, {7, 1, 0x40}, {7, 1, 0x48}, 0, 0x43900000);  // 290 cut to 288 by units of 4
  Check(blocks, alone, {7, 1, 0x7f}, {7, 1, 0x48}, 0, 0x7fffffff);  // NaN scale
  Check(blocks, alone, {15, 9, 0x00}, {7, 1, 0x48}, 0x80000000,
        0x80000000);  // a zero scale keeps the sign of all
  Check(blocks, alone, {15, 1, 0x00}, {7, 1, 0x48}, 0x80000000, 0);
  // Small words: 1 - 2^-40 and 1 - 2^-25 by units of 2^-24, rounded down.
  const std::string down = "fraction_bits=24 align_rounding=down to=f32\ntree s(k0 c)";
  Check(kHalf, "node s " + down, {0x3c00}, {0x3c00}, 0xab800000, 0x3f7fffff);
  Check(kHalf, "node s small_word=dropped " + down, {0x3c00}, {0x3c00}, 0xab800000, 0x3f800000);
  Check(kHalf, "node s small_word=dropped " + down, {0x3c00}, {0x3c00}, 0xb3000000, 0x3f7fffff);
  Check(kHalf, "node s small_word=dropped_above_floor " + down, {0x3c00}, {0x3c00}, 0xb3000000,
        0x3f800000);
  // Ties and zeros: 1 + 2^-11 in f16, x - x.
  for (const auto& [rounding, want] :
       std::vector<std::pair<std::string, uint64_t>>{{"nearest_even", 0xbc00},
                                                     {"nearest_away", 0xbc01},
                                                     {"to_odd", 0xbc01},
                                                     {"up", 0xbc00},
                                                     {"down", 0xbc01},
                                                     {"toward_zero", 0xbc00}}) {
    Check(to_half, "node h to=f16 output_rounding=" + rounding + "\ntree h(c k0)", {0x9000},
          {0x3c00}, 0xbf800000, want);
  }
  Check(kHalf, "node h to=f32 zero_sign=ieee754 output_rounding=down\ntree h(c k0)", {0xbc00},
        {0x3c00}, 0x3f800000, 0x80000000);
  Check(kHalf, "node h to=f32 zero_sign=ieee754\ntree h(c k0)", {0xbc00}, {0x3c00}, 0x3f800000, 0);
  Check(kHalf, "node h to=f32 output_rounding=down\ntree h(c k0)", {0xbc00}, {0x3c00}, 0x3f800000,
        0);
  // NaNs by constants, a limit of products.
  const std::string nans = "node s to=f32 nan_rule=ffc00a3d,ffc00000\ntree s(c k0)";
  Check(kHalf, nans, {0x7e00}, {0x3c00}, 0x7f800001, 0xffc00a3d);
  Check(kHalf, nans, {0x7c00}, {0x0000}, 0x7f800001, 0xffc00000);
  Check(kHalf, nans, {0x7c00}, {0x3c00}, 0xff800000, 0xffc00000);
  Check(kHalf, nans, {0x3c00}, {0x3c00}, 0x7f800001, 0x7fc00001);
  Check(kBf,
        "node p fraction_bits=24 product_limit=128\nnode s fraction_bits=24 to=f32\ntree "
        "s(p(k0..1) c)",
        {0x5f80, 0xdf80}, {0x5f80, 0x5f00}, 0, 0x7f800000);  // 2^128 - 2^127
  Check(kBf, "node p fraction_bits=24\nnode s fraction_bits=24 to=f32\ntree s(p(k0..1) c)",
        {0x5f80, 0xdf80}, {0x5f80, 0x5f00}, 0, 0x7f000000);
  Check(kBf,
        "node p fraction_bits=24 product_limit=128\nnode s fraction_bits=24 to=f32\ntree "
        "s(p(k0..1) c)",
        {0x5f80, 0xdf80}, {0x5f80, 0x5f80}, 0, 0x7fffffff);
  // Tininess: 2^-126 - 2^-151 rounds to 2^-126 with an unbounded exponent only if 2^-150 is the last place.
  Check(kBf, "node s to=f32 output_subnormals=flush\ntree s(c k0)", {0x8080}, {0x3300}, 0x00800000,
        0x00800000);
  Check(kBf, "node s to=f32 output_subnormals=flush tininess=before_rounding\ntree s(c k0)",
        {0x8080}, {0x3300}, 0x00800000, 0);
  // The least exponent of f16 is -14: 2^10 - 2^-20 by units of 2^-14 and 2^-13.
  const std::string above =
      " align_rounding=down small_word=dropped_above_floor to=f16 output_rounding=down\ntree s(k0 "
      "c)";
  Check(to_half, "node s fraction_bits=24" + above, {0x6400}, {0x3c00}, 0xb5800000, 0x63ff);
  Check(to_half, "node s fraction_bits=23" + above, {0x6400}, {0x3c00}, 0xb5800000, 0x6400);
  // Zero scales: no exponent is offered, so that 1.75 is cut to 1.5; infinity times zero.
  Check(blocks, alone, {7, 1, 0x00}, {7, 1, 0x78}, 0x3fe00000, 0x3fc00000);
  Check(blocks, added, {7, 1, 0x00}, {7, 1, 0x78}, 0x3fe00000, 0x3fc00000);
  const Formats e5m2 = {kE5m2, kE5m2, kF32, kF32, kUe4m3, 2};
  Check(e5m2, alone, {0x7c, 0, 0x00}, {0x3c, 0, 0x78}, 0, 0x7fffffff);
  Check(e5m2, alone, {0x7c, 0, 0x38}, {0xbc, 0, 0x78}, 0, 0xff800000);
}

// A tree of a model reads words as its family does and gives the same words: every row of the tables
// and every change of one parameter.
TEST(TreeOf, GivesTheAnswersOfEveryFamily) {
  reference::Random random(1);
  int models = 0;
  for (const Operation* op : DistinctOperations()) {
    if (op->model.algorithm.family == Family::kConversion) continue;
    if (op->model.algorithm.family == Family::kTree) continue;
    std::vector<Model> all = {OneExecution(op->model)};
    for (const Neighbour& n : Neighbours(op->model)) {
      const std::string_view changed = n.single()->parameter->name;
      if (changed == "far_product" || changed == "pair_sum" || changed == "selection") continue;
      all.push_back(OneExecution(WithAlgorithm(*op, n.algorithm)));
    }
    for (const Model& m : all) {
      const Model tree = TreeOf(m);
      ASSERT_EQ(WhyInvalid(tree), "") << op->name;
      ++models;
      for (int i = 0; i < 60; ++i) {
        const DotProductCase dot = reference::RandomDot(m, random);
        ASSERT_EQ(Simulate(tree, dot), Simulate(m, dot)) << op->name << Describe(m.algorithm);
      }
    }
  }
  EXPECT_GT(models, 1000);
}

const std::vector<std::pair<Formats, int>>& RandomFormats() {
  static const auto& formats =
      *new std::vector<std::pair<Formats, int>>{{kHalf, 16},
                                                {{kE4m3, kE5m2, kF16, kF16}, 32},
                                                {{kBf16, kBf16, kF32, kBf16}, 8},
                                                {{kF64, kF64, kF64, kF64}, 8},
                                                {{kTf32, kTf32, kF32, kF32}, 4},
                                                {{kF32, kF32, kF32, kF32}, 7},
                                                {{kF16, kF16, kAbsent, kE4m3}, 9},
                                                {{kE4m3fnuz, kE5m2fnuz, kF32, kE4m3fnuz}, 16},
                                                {{kE2m1, kE2m3, kF32, kE2m1}, 6},
                                                {{kE2m1, kE2m1, kF32, kF32, kUe4m3, 16}, 64},
                                                {{kE4m3, kE4m3, kF32, kF32, kUe8m0, 32}, 64},
                                                {{kE4m3, kE4m3, kF16, kF32, kUe8m0, 4}, 8},
                                                {{kE2m1, kE2m1, kF32, kF32, kUe4m3, 4}, 8},
                                                {{kU8, kS8, kS32, kS32}, 16},
                                                {{kBf16, kF32, kF32, kTf32}, 5},
                                                {kHalf, 256},
                                                {kHalf, 1}};
  return formats;
}

TEST(Tree, AgreesWithTheReference) {
  Random random(1);
  for (const auto& [formats, k] : RandomFormats()) {
    for (int i = 0; i < 600; ++i) {
      const Tree tree = reference::RandomTree(ModelOf(formats, k, nullptr), random);
      const Model m = ModelOf(formats, k, &tree);
      ASSERT_EQ(WhyInvalid(m), "");
      for (int j = 0; j < 20; ++j) {
        const DotProductCase dot = reference::RandomDot(m, random);
        ASSERT_EQ(Simulate(m, dot), reference::SumOfTree(m, dot)) << Describe(m.algorithm) << "\n"
                                                                  << reference::Line(m, dot);
      }
    }
  }
}

// Changes that are said to change nothing: of random trees and of those of the tables.
TEST(Tree, EquivalentChangesChangeNothing) {
  Random random(3);
  std::vector<Model> models;
  for (const auto& [formats, k] : RandomFormats()) {
    for (int i = 0; i < 20 && k <= 32; ++i) {
      Model m = ModelOf(formats, k, nullptr);
      m.algorithm.tree = InternTree(reference::RandomTree(m, random));
      models.push_back(m);
    }
  }
  for (const Operation* op : DistinctOperations()) {
    if (op->model.algorithm.family == Family::kTree) models.push_back(op->model);
  }
  int changes = 0;
  for (const Model& m : models) {
    for (const EquivalentNeighbour& n : EquivalentNeighbours(m)) {
      Model changed = m;
      changed.algorithm = WithChanges(m.algorithm, {&n.change, 1});
      ++changes;
      for (int i = 0; i < 60; ++i) {
        const DotProductCase dot = reference::RandomDot(m, random);
        ASSERT_EQ(Simulate(changed, dot), Simulate(m, dot))
            << Name(n.change) << " " << Describe(m.algorithm);
      }
    }
  }
  EXPECT_GT(changes, 1000);
}

// What is printed is what is read, for random trees and those of the tables.
TEST(Tree, IsReadAsItIsPrinted) {
  const auto expect_same = [](const Tree& tree, int k) {
    std::string text;
    for (const std::string& line : TreeLines(tree)) text += line + "\n";
    const Tree read = TreeFromText(text, k);
    EXPECT_EQ(read.nodes, tree.nodes) << text;
    EXPECT_EQ(read.code, tree.code) << text;
  };
  Random random(2);
  for (const auto& [formats, k] : RandomFormats()) {
    for (int i = 0; i < 100; ++i) {
      expect_same(reference::RandomTree(ModelOf(formats, k, nullptr), random), k);
    }
  }
  for (const Operation* op : DistinctOperations()) {
    const Model m = OneExecution(op->model);
    if (m.algorithm.family == Family::kConversion) continue;
    expect_same(m.algorithm.family == Family::kTree ? *m.algorithm.tree : *TreeOf(m).algorithm.tree,
                m.k);
  }
}

std::string ErrorOf(const std::string& line) {
  TreeReader reader;
  TextError error;
  const bool ok = reader.ReadNode("node step to=f32", 1, error) &&
                  (line.starts_with("node") ? reader.ReadNode(line, 2, error)
                                            : reader.ReadTree(line, 2, 8, error));
  if (ok) return "";
  return std::to_string(error.line) + ":" + std::to_string(error.column) + " " + error.what;
}

TEST(TreeText, SaysWhereAndWhatIsWrong) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"node", "2:5 the node has no name"},
      {"node a fraction_bits", "2:8 'fraction_bits' is not FIELD=VALUE"},
      {"node a fracton_bits=3", "2:8 a node has no field 'fracton_bits'; similar: fraction_bits"},
      {"node a fraction_bits=65", "2:8 fraction_bits: 1 to 64 or exact; not '65'"},
      {"node a fraction_bits=", "2:8 'fraction_bits=' has no value"},
      {"node a output_rounding=nearest", "2:8 output_rounding: nearest_even, toward_zero"},
      {"node a nan_rule=constants", "2:8 nan_rule: all_ones, quiet_positive"},
      {"node a nan_rule=7fff,xyz", "2:8 nan_rule: two NaNs in hex, FACTOR,INVALID"},
      {"node a to=f23", "2:8 there is no format 'f23'"},
      {"node step to=f32", "2:6 there is a node 'step' already"},
      {"node k1 to=f32", "2:6 'k1' cannot be the name of a node"},
      {"tree", "2:5 a tree has one result, not 0"},
      {"tree stp(k0..)", "2:6 there is no node 'stp'; similar: step"},
      {"tree step(k0..7 /3)", "2:18 8 terms cannot be divided into groups of 3"},
      {"tree step(k0..8)", "2:11 there are 8 products, k0 to k7"},
      {"tree step(k0..", "2:15 ')' is missing before the end"},
      {"tree step(k0..) c", "2:6 a tree has one result, not 2"},
      {"tree step(k0..))", "2:16 ')' has no meaning here"},
      {"tree step()", "2:6 a node needs terms"},
      {"tree step(_)", "2:11 '_' has a meaning only in 'fold'"},
      {"tree fold step(_ @) k0..", "2:21 'over' is missing before 'k0'"},
      {"tree fold step(_ @) over k0.. from", "2:35 the end is not a term"},
      {"tree reduce step(k0..)", "2:6 'reduce' needs /n with n of at least 2"},
      {"tree step(k0..7:)", "2:17 after ':' comes a step of at least 1, not ')'"},
  };
  for (const auto& [line, what] : kWrong) EXPECT_THAT(ErrorOf(line), HasSubstr(what)) << line;
  for (const char* line : {"node a fraction_bits=exact exponent_floor=none", "tree step(k0.. c)",
                           "tree fold step(_ @) over k7..0 /2 from c"}) {
    EXPECT_EQ(ErrorOf(line), "") << line;
  }
  std::string deep = "tree ";
  for (int i = 0; i < 1000; ++i) deep += "step(";
  EXPECT_THAT(ErrorOf(deep), HasSubstr("nested too deeply"));
  EXPECT_THAT(ErrorOf("tree fold step(_ _ _ _ _ _ _ _ @) over k0.. from c"),
              HasSubstr("too large"));
}

}  // namespace
}  // namespace mmadiff
