// Every model with every neighbour, from a random start.
#include "triage/minimize/minimize_checks.h"

namespace mmadiff {
namespace {

TEST(MinimizeSweep, AllModelsAndNeighbours) {
  int minimised = 0;
  for (const Row* row : DistinctRows()) {
    for (const Neighbour& n : Neighbours(row->model)) {
      minimised += CheckMinimizations(*row, n.name, {.seed = 2, .tries = 300, .starts = 1});
    }
  }
  EXPECT_GT(minimised, 2500);
}

}  // namespace
}  // namespace mmadiff
