// Planted changes of some operations of each family: every single one, and pairs of them drawn at
// random.
#include "device/testing/operations.h"
#include "triage/testing/investigate_checks.h"

namespace mmadiff {
namespace {

constexpr int kPairsOfOperation = 14;

InvestigateFigures singles, pairs;

class InvestigateLong : public testing::TestWithParam<const Operation*> {
 protected:
  static void TearDownTestSuite() {
    printf("single changes: ");
    Print(singles);
    printf("two changes: ");
    Print(pairs);
  }
};

TEST_P(InvestigateLong, EverySingleChange) {
  const Operation& op = *GetParam();
  const std::vector<Batch> dots = CheckedDots(op, 1), others = CheckedDots(op, 77);
  for (const Neighbour& n : AllNeighbours(op.model)) {
    CheckPlanted(op, n.algorithm, dots, others, singles);
  }
  EXPECT_TRUE(singles.wrong.empty());
  EXPECT_TRUE(singles.unrefuted.empty());
  EXPECT_EQ(singles.undecided, 0);
  EXPECT_LE(Quantile(singles.terms, .5), 2);
  EXPECT_LE(Quantile(singles.executions, .5), 2000);
}

TEST_P(InvestigateLong, SomePairs) {
  const Operation& op = *GetParam();
  const std::vector<Batch> dots = CheckedDots(op, 1), others = CheckedDots(op, 77);
  const std::vector<Neighbour> all = AllNeighbours(op.model);
  std::mt19937_64 random(2);
  for (int i = 0; i < kPairsOfOperation; ++i) {
    const Neighbour& first = all[random() % all.size()];
    const std::vector<Neighbour> seconds = AllNeighbours(WithAlgorithm(op, first.algorithm));
    const Algorithm& both = seconds[random() % seconds.size()].algorithm;
    if (both != op.model.algorithm) CheckPlanted(op, both, dots, others, pairs);
  }
  EXPECT_TRUE(pairs.wrong.empty());
}

INSTANTIATE_TEST_SUITE_P(Operations, InvestigateLong, testing::ValuesIn(OperationsOfEachFamily(5)),
                         [](const auto& info) {
                           std::string name = info.param->name;
                           for (char& c : name)
                             c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace mmadiff
