// Operands in block floating point are recognized; aligned products, zero ones too, are not.
#include "triage/infer/shared_exponent.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/parameter.h"
#include "sim/tree/tree_text.h"
#include "sim/unlisted.h"
#include "triage/infer/infer.h"
#include "triage/infer/inference_text.h"
#include "triage/model_device.h"
#include "triage/number_text.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMost = 20000;
constexpr char kHalf[] = "unlisted/k16.f32.f16.f16.f32";

// A group of 1 has no shared exponent. The bits are those of a magnitude.
struct Blocks {
  int group = 1, bits = 7;
  bool nearest = false;  // else toward zero
  int single = 0;        // so many elements before the first group have exponents of their own
  bool prunes = false;   // small elements are dropped, others keep all bits
};

// Sums in f32 of products of rows whose groups share exponents.
class BlockDevice : public ModelDevice {
 public:
  BlockDevice(const Operation& op, const Blocks& a, const Blocks& b)
      : ModelDevice(op.model), a_(a), b_(b) {}

  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const Model& m = op.model;
    for (int64_t i = 0; i < batch.dot_products(); ++i) {
      const DotProductCase dot = Extract(batch, i);
      const auto a = Row(m.a, dot.a, a_), b = Row(m.b, dot.b, b_);
      float sum = static_cast<float>(NumberOf(m.c, dot.c));
      for (int k = 0; k < m.k; ++k) sum = static_cast<float>(sum + a[k] * b[k]);
      d.push_back(std::bit_cast<uint32_t>(sum));
    }
    return absl::OkStatus();
  }

 private:
  static std::vector<long double> Row(const Format& f, const std::vector<uint64_t>& words,
                                      const Blocks& blocks) {
    std::vector<long double> row;
    for (const uint64_t word : words) row.push_back(NumberOf(f, word));
    if (blocks.group == 1) return row;
    for (size_t first = blocks.single; first < row.size(); first += blocks.group) {
      const std::span group(row.data() + first, std::min<size_t>(blocks.group, row.size() - first));
      Share(group, blocks);
    }
    return row;
  }

  static void Share(std::span<long double> group, const Blocks& blocks) {
    long double largest = 0;
    for (const long double x : group) {
      if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
    }
    if (largest == 0) return;
    const int last = std::ilogb(largest) - (blocks.bits - 1);
    for (long double& x : group) {
      if (blocks.prunes) {
        if (std::abs(x) < std::ldexp(1.0L, last)) x = 0;
        continue;
      }
      const long double scaled = std::ldexp(x, -last);
      x = std::ldexp(blocks.nearest ? std::nearbyint(scaled) : std::trunc(scaled), last);
    }
  }

  const Blocks a_, b_;
};

std::vector<SharedExponent> Ask(Device& device, const Operation& op) {
  Asker asker(device, op, 2 * kMost);
  const auto found = AskSharedExponents(asker, kMost);
  EXPECT_TRUE(found.ok()) << found.status();
  EXPECT_LE(asker.asked(), kMost);
  return *found;
}

TEST(SharedExponentTest, Groups) {
  for (const char* name : {kHalf, "unlisted/k32.f32.bf16.bf16.f32"}) {
    const Operation& op = *FindUnlisted(name);
    for (const int group : {2, 4, 8, op.model.k}) {
      for (const Blocks blocks : {Blocks{group, 7, false}, Blocks{group, 5, true}}) {
        BlockDevice device(op, blocks, {});
        const auto found = Ask(device, op);
        ASSERT_EQ(found.size(), 1u) << name << " " << group;
        EXPECT_FALSE(found[0].of_b);
        EXPECT_EQ(found[0].group, group);
        EXPECT_EQ(found[0].kept_bits, blocks.bits - 1);
      }
    }
  }
}

// An element that is not too small keeps its last bits.
TEST(SharedExponentTest, PrunedElements) {
  const Operation& op = *FindUnlisted(kHalf);
  BlockDevice device(op, {.group = 4, .bits = 8, .prunes = true}, {});
  EXPECT_TRUE(Ask(device, op).empty());
}

TEST(SharedExponentTest, BothOperands) {
  const Operation& op = *FindUnlisted(kHalf);
  BlockDevice device(op, {4, 7}, {8, 9});
  const auto found = Ask(device, op);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_FALSE(found[0].of_b);
  EXPECT_EQ(found[0].group, 4);
  EXPECT_EQ(found[0].kept_bits, 6);
  EXPECT_TRUE(found[1].of_b);
  EXPECT_EQ(found[1].group, 8);
  EXPECT_EQ(found[1].kept_bits, 8);
}

// The last group has fewer elements.
TEST(SharedExponentTest, IncompleteGroup) {
  const Operation& op = *FindUnlisted("unlisted/k10.f32.f16.f16.f32");
  BlockDevice device(op, {}, {4, 7});
  const auto found = Ask(device, op);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].of_b);
  EXPECT_EQ(found[0].group, 4);
}

TEST(SharedExponentTest, Inference) {
  const Operation& op = *FindUnlisted(kHalf);
  BlockDevice device(op, {8, 7}, {});
  const Inference inference = Infer(device, op, {20000, 20000, {}});
  ASSERT_TRUE(inference.status.ok()) << inference.status;
  EXPECT_FALSE(inference.algorithm);
  EXPECT_TRUE(inference.stochastic.empty());
  EXPECT_EQ(inference.flaky, 0u);
  ASSERT_EQ(inference.shared_exponents.size(), 1u);
  EXPECT_TRUE(inference.refuted.empty());
  const std::string text = InferenceText(op, inference, {});
  EXPECT_THAT(text, AllOf(HasSubstr("\nexponent a: each 8 consecutive elements share an exponent"),
                          HasSubstr("7 bits and a sign"), Not(HasSubstr("stochastic"))));
}

// ---- What shares no exponent.

TEST(SharedExponentTest, NoRowOfTheTables) {
  for (const Operation* op : DistinctOperations()) {
    ModelDevice device(op->model);
    EXPECT_TRUE(Ask(device, *op).empty()) << op->name;
  }
}

// Groups that do not begin with the first element: nothing is claimed about their size.
TEST(SharedExponentTest, NoShiftedGroups) {
  const Operation& op = *FindUnlisted(kHalf);
  for (const int single : {1, 2, 3}) {
    BlockDevice device(op, {4, 7, false, single}, {});
    EXPECT_TRUE(Ask(device, op).empty()) << single;
  }
}

// Zero products, zero words and zero sums take part in the alignment.
TEST(SharedExponentTest, NoAlignment) {
  for (const char* name : {kHalf, "unlisted/k16.f32.bf16.bf16.f32", "unlisted/k16.f32.f32.f32.f32",
                           "unlisted/k16.f32.e4m3.e4m3.f32", "unlisted/k16.f32.e5m2.e5m2.f32"}) {
    const Operation& op = *FindUnlisted(name);
    for (const int bits : {2, 7, 13, 24}) {
      for (const char* product : {"raw", "normalized", "as_f16"}) {
        const std::string node = absl::StrCat("node n to=f32 fraction_bits=", bits,
                                              " zero_product=raises zero_word=raises",
                                              " product_exponent=", product, "\ntree n(k0..15 c)");
        const Tree tree = TreeFromText(node, op.model.k);
        Model model = op.model;
        model.algorithm = {.family = Family::kTree, .tree = &tree};
        ModelDevice device(model);
        EXPECT_TRUE(Ask(device, op).empty()) << name << " " << node;
      }
    }
  }
}

}  // namespace
}  // namespace mmadiff
