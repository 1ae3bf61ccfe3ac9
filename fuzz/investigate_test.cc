// Planted changes, from the first mismatch to what is kept of it: of one row of each family and
// some neighbours. All are in investigate_long_test.cc.
#include "device/testing_rows.h"
#include "fuzz/investigate_checks.h"

namespace mmadiff {
namespace {

TEST(Investigate, SomeOfEachFamily) {
  InvestigateFigures figures;
  for (const Row* row : RowsOfEachFamily(1)) {
    const std::vector<DotProductCase> dots = CheckedDots(*row, 1), others = CheckedDots(*row, 77);
    const std::vector<Neighbour> neighbours = Neighbours(row->model);
    for (size_t i = 0; i < neighbours.size(); i += 3) {
      CheckPlanted(*row, neighbours[i].algorithm, dots, others, figures);
    }
  }
  Print(figures);
  EXPECT_TRUE(figures.wrong.empty());
  EXPECT_TRUE(figures.unrefuted.empty());
  EXPECT_EQ(figures.undecided, 0);
}

}  // namespace
}  // namespace mmadiff
