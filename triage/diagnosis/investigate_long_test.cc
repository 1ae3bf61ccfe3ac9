// Planted changes of some rows of each family: every single one, and pairs of them drawn at random.
#include "device/testing_rows.h"
#include "triage/diagnosis/investigate_checks.h"

namespace mmadiff {
namespace {

constexpr int kPairsOfRow = 14;

InvestigateFigures singles, pairs;

class InvestigateLong : public testing::TestWithParam<const Row*> {
 protected:
  static void TearDownTestSuite() {
    printf("single changes: ");
    Print(singles);
    printf("two changes: ");
    Print(pairs);
  }
};

TEST_P(InvestigateLong, EverySingleChange) {
  const Row& row = *GetParam();
  const std::vector<DotProductCase> dots = CheckedDots(row, 1), others = CheckedDots(row, 77);
  for (const Neighbour& n : Neighbours(row.model)) {
    CheckPlanted(row, n.algorithm, dots, others, singles);
  }
  EXPECT_TRUE(singles.wrong.empty());
  EXPECT_TRUE(singles.unrefuted.empty());
  EXPECT_EQ(singles.undecided, 0);
  EXPECT_LE(Quantile(singles.terms, .5), 2);
  EXPECT_LE(Quantile(singles.executions, .5), 2000);
}

TEST_P(InvestigateLong, SomePairs) {
  const Row& row = *GetParam();
  const std::vector<DotProductCase> dots = CheckedDots(row, 1), others = CheckedDots(row, 77);
  const std::vector<Neighbour> all = Neighbours(row.model);
  std::mt19937_64 random(2);
  for (int i = 0; i < kPairsOfRow; ++i) {
    const Neighbour& first = all[random() % all.size()];
    const std::vector<Neighbour> seconds = Neighbours(WithAlgorithm(row, first.algorithm));
    const Algorithm& both = seconds[random() % seconds.size()].algorithm;
    if (both != row.model.algorithm) CheckPlanted(row, both, dots, others, pairs);
  }
  EXPECT_TRUE(pairs.wrong.empty());
}

INSTANTIATE_TEST_SUITE_P(Rows, InvestigateLong, testing::ValuesIn(RowsOfEachFamily(5)),
                         [](const auto& info) {
                           std::string name = info.param->name;
                           for (char& c : name)
                             c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace mmadiff
