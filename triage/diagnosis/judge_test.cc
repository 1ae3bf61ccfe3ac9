// A judge says of every model what one look at each answer says, in whatever order it looks.
#include "triage/diagnosis/judge.h"

#include <random>

#include "corpus/cases/case_name.h"
#include "device/testing/operations.h"
#include "gtest/gtest.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

constexpr int kAnswers = 400;

// Generated dot products; the model's answers, but of every `period`-th another.
std::vector<Observed> Answers(const Operation& op, const Model& model, uint64_t period) {
  std::vector<Observed> answers;
  Batch tile;
  for (uint64_t i = 0; answers.size() < kAnswers; ++i) {
    Generate({&op, &Strategies().front(), 1}, i, 1, tile);
    const DotProductCase dot = Extract(tile, static_cast<int64_t>(i) % tile.dot_products());
    const uint64_t d = Simulate(model, dot);
    answers.push_back({dot, i % period == period - 1 ? d ^ 1 : d, i % 2 == 0});
  }
  return answers;
}

std::vector<size_t> MissedOneByOne(const Operation& op, const Model& model,
                                   const std::vector<Observed>& answers) {
  std::vector<size_t> missed;
  for (size_t i = 0; i < answers.size(); ++i) {
    if (!Fits(op, model, answers[i])) missed.push_back(i);
  }
  return missed;
}

TEST(Judge, IsRightOfEveryModel) {
  std::mt19937_64 random(1);
  for (const Operation* op : OperationsOfEachFamily(1)) {
    const std::vector<Neighbour> neighbours = Neighbours(op->model);
    for (const uint64_t period : {7, 399, 1000}) {
      const Algorithm& planted = neighbours[random() % neighbours.size()].algorithm;
      const std::vector<Observed> answers = Answers(*op, WithAlgorithm(*op, planted), period);
      Judge judge(*op, answers);
      for (int n = 0; n < 200; ++n) {
        const Model model =
            n % 9 == 0 ? WithAlgorithm(*op, planted)
                       : WithAlgorithm(*op, neighbours[random() % neighbours.size()].algorithm);
        std::vector<size_t> missed = MissedOneByOne(*op, model, answers);
        const size_t most = random() % (n % 2 == 0 ? 3 : kAnswers);
        EXPECT_EQ(judge.Missed(model, most), std::min(missed.size(), most + 1)) << op->name;
        EXPECT_EQ(judge.Missed(model, kAnswers), missed.size()) << op->name;
        EXPECT_EQ(judge.GivesAll(model), missed.empty()) << op->name;
        const auto refuting = judge.FindRefuting(model, {random() % kAnswers, 0});
        EXPECT_EQ(refuting.has_value(), !missed.empty()) << op->name;
        EXPECT_TRUE(!refuting || std::ranges::binary_search(missed, *refuting)) << op->name;
        missed.resize(std::min(missed.size(), most));
        EXPECT_EQ(judge.FirstMissed(model, most), missed) << op->name;
      }
    }
  }
}

TEST(Judge, OfNoAnswers) {
  const Operation& op = *OperationsOfEachFamily(1).front();
  Judge judge(op, {});
  EXPECT_TRUE(judge.GivesAll(op.model));
  EXPECT_FALSE(judge.FindRefuting(op.model, {0}));
  EXPECT_EQ(judge.Missed(op.model, 3), 0u);
  EXPECT_TRUE(judge.FirstMissed(op.model, 3).empty());
}

}  // namespace
}  // namespace mmadiff
