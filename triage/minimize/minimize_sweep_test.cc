// Every model with every neighbour, from a random start.
#include "triage/testing/minimize_checks.h"

namespace mmadiff {
namespace {

TEST(MinimizeSweep, AllModelsAndNeighbours) {
  int minimised = 0;
  for (const Operation* op : DistinctOperations()) {
    for (const Neighbour& n : Neighbours(op->model)) {
      minimised += CheckMinimizations(*op, Name(n), {.seed = 2, .tries = 300, .starts = 1});
    }
  }
  EXPECT_GT(minimised, 2500);
}

}  // namespace
}  // namespace mmadiff
