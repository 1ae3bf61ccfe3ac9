// The simulator against the reference on the model of every operation and on every
// one-parameter neighbour. Operations that share a model are tested once, under the name of the
// first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/operation.h"
#include "sim/parameter.h"
#include "sim/reference/random_dot.h"
#include "sim/simulate.h"
#include "sim/stages.h"

namespace mmadiff {
namespace {

using reference::Disagreement;
using reference::Random;
using reference::RandomDot;

constexpr int kOperationDots = 2500;
constexpr int kNeighbourDots = 200;
constexpr uint64_t kSeed = 20261120;

class Agreement : public testing::TestWithParam<const Operation*> {};

// At most a few failures are worth reading.
void Compare(const Model& model, int dots, uint64_t seed) {
  Random random(seed);
  for (int i = 0, failures = 0; i < dots && failures < 3; ++i) {
    const std::string difference = Disagreement(model, RandomDot(model, random));
    if (difference.empty()) continue;
    ADD_FAILURE() << "seed " << seed << ", dot product " << i << ": " << difference;
    ++failures;
  }
}

TEST_P(Agreement, OfTheOperation) { Compare(GetParam()->model, kOperationDots, kSeed); }

TEST_P(Agreement, OfEveryNeighbour) {
  uint64_t seed = kSeed;
  for (const Neighbour& neighbour : AllNeighbours(GetParam()->model)) {
    SCOPED_TRACE(Name(neighbour));
    Compare(WithAlgorithm(*GetParam(), neighbour.algorithm), kNeighbourDots, ++seed);
  }
}

// Whole executions, whose rows and columns are shared, give the words of single dot products; the
// tracer's last event carries the result.
TEST_P(Agreement, OfBatchesAndTraces) {
  const Model& model = GetParam()->model;
  const Shape& own = GetParam()->shape();
  Random random(kSeed);
  Batch batch;
  batch.Resize(
      {.m = 3, .n = 5, .k = own.k, .blocks = 2, .scales = own.scales, .groups = own.groups}, 2);
  for (int execution = 0; execution < 2; ++execution) {
    for (int i = 0; i < batch.shape.d_words(); ++i) {
      Insert(RandomDot(model, random), execution, PositionOf(batch.shape, i), batch);
    }
  }
  std::vector<uint64_t> d(batch.dot_products());
  Simulate(model, batch, d);
  for (int64_t i = 0; i < batch.dot_products(); ++i) {
    const DotProductCase dot = Extract(batch, i);
    ASSERT_EQ(d[i], Simulate(model, dot)) << i << ": " << reference::Line(model, dot);
    const std::vector<Event> events = TraceStages(model, dot);
    ASSERT_FALSE(events.empty());
    ASSERT_EQ(static_cast<uint64_t>(events.back().magnitude), d[i]);
  }
}

// Sums of products that no row has: of f32, in the families whose rows have narrower inputs.
TEST(AgreementOfWideInputs, FusedAndExactSums) {
  Random random(kSeed);
  for (const Family family : {Family::kFusedSum, Family::kExactSum}) {
    for (const auto& [a, b] :
         {std::pair(kF32, kF32), std::pair(kF32, kF16), std::pair(kTf32, kF32)}) {
      for (const Format& out : {kF32, kF16}) {
        Model m = {a, b, kF32, out, 4, {.family = family}};
        m.algorithm.terms = 4;
        m.algorithm.fraction_bits = 25;
        m.algorithm.output_fraction_bits = out.fraction_bits;
        ASSERT_EQ(WhyInvalid(m), "");
        Compare(m, kOperationDots, random());
        for (int i = 0; i < 60; ++i) {  // and around it, ever farther
          Model other = m;
          for (const Parameter& p : Parameters()) {
            const std::vector<int> values = OtherValues(p, p.get(other.algorithm));
            if (FindParameter(family, p.name) != &p || values.empty() || random() % 3 != 0)
              continue;
            p.set(other.algorithm, values[random() % values.size()]);
            if (!WhyInvalid(other).empty()) other = m;
          }
          SCOPED_TRACE(Describe(other.algorithm));
          Compare(other, kNeighbourDots, random());
        }
      }
    }
  }
}

// Sums that the limbs of the exact sum would not hold.
TEST(AgreementOfWideInputs, AreRefused) {
  const Algorithm exact = {.family = Family::kExactSum, .output_fraction_bits = 23};
  EXPECT_EQ(WhyInvalid({kF16, kF16, kF32, kF32, 4, exact}), "");
  EXPECT_NE(WhyInvalid({kF16, kF16, kF64, kF64, 4, exact}), "");
  EXPECT_NE(WhyInvalid({kF16, kF16, kF64, kF32, 4, exact}), "");
  EXPECT_NE(WhyInvalid({kF64, kF16, kF32, kF32, 4, exact}), "");
  EXPECT_NE(
      WhyInvalid({kF64,
                  kF32,
                  kF32,
                  kF32,
                  4,
                  {.family = Family::kFusedSum, .fraction_bits = 9, .output_fraction_bits = 23}}),
      "");
}

std::string TestName(const testing::TestParamInfo<const Operation*>& info) {
  std::string name = info.param->name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Operations, Agreement, testing::ValuesIn(DistinctOperations()), TestName);

// Every field of a model; a format is known by its name.
std::string Text(const Model& m) {
  const char* scale = m.scale_block > 0 ? m.scale.name : "none";
  std::string text = std::to_string(m.k) + " " + std::to_string(m.scale_block) + " " +
                     std::to_string(m.sparse_group);
  for (const char* name : {m.a.name, m.b.name, m.c.name, m.d.name, scale}) {
    text += std::string(" ") + name;
  }
  return text + " " + Describe(m.algorithm);
}

// No model of the table is left out, and none is there twice.
TEST(AgreementTable, TestsEveryModelOnce) {
  std::multiset<std::string> tested;
  for (const Operation* op : DistinctOperations()) tested.insert(Text(op->model));
  for (const Operation& op : Operations()) EXPECT_EQ(tested.count(Text(op.model)), 1) << op.name;
}

}  // namespace
}  // namespace mmadiff
