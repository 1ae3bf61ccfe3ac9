// The simulator against the reference on every table row and on every one-parameter neighbour.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/parameter.h"
#include "sim/reference/random_dot.h"
#include "sim/row.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using reference::Disagreement;
using reference::RandomDot;
using reference::RandomWord;

constexpr int kRowDots = 3000;
constexpr int kNeighbourDots = 200;
constexpr uint64_t kSeed = 20261120;

class Agreement : public testing::TestWithParam<const Row*> {};

// At most a few failures are worth reading.
void Compare(const Model& model, int dots, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int i = 0, failures = 0; i < dots && failures < 3; ++i) {
    const std::string difference = Disagreement(model, RandomDot(model, random));
    if (difference.empty()) continue;
    ADD_FAILURE() << "seed " << seed << ", dot product " << i << ": " << difference;
    ++failures;
  }
}

TEST_P(Agreement, OfTheRow) { Compare(GetParam()->model, kRowDots, kSeed); }

TEST_P(Agreement, OfEveryNeighbour) {
  for (const Neighbour& neighbour : Neighbours(GetParam()->model)) {
    SCOPED_TRACE(neighbour.name);
    Compare(WithAlgorithm(*GetParam(), neighbour.algorithm), kNeighbourDots, kSeed + 1);
  }
}

// Whole executions, whose rows and columns are shared, give the words of single dot products; the
// tracer's last event carries the result.
TEST_P(Agreement, OfBatchesAndTraces) {
  const Model& model = GetParam()->model;
  std::mt19937_64 random(kSeed + 2);
  Batch batch;
  batch.Resize(GetParam()->shape(), 2);
  for (uint64_t& word : batch.a) word = RandomWord(model.a, random);
  for (uint64_t& word : batch.b) word = RandomWord(model.b, random);
  for (uint64_t& word : batch.c) word = RandomWord(model.c, random);
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

std::string TestName(const testing::TestParamInfo<const Row*>& info) {
  std::string name = info.param->name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

std::vector<const Row*> AllRows() { return MatchRows("*"); }

INSTANTIATE_TEST_SUITE_P(Rows, Agreement, testing::ValuesIn(AllRows()), TestName);

}  // namespace
}  // namespace mmadiff
