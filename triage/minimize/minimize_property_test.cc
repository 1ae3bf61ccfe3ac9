// What must hold of every minimisation: of an operation of each family and every other neighbour
// for which a few random dot products show a difference. All models are in minimize_sweep_test.cc.
#include "triage/testing/minimize_checks.h"

namespace mmadiff {
namespace {

TEST(MinimizeProperty, OneOperationOfEachFamily) {
  int minimised = 0;
  for (const Operation* op : OperationsOfEachFamily(1)) {
    const std::vector<Neighbour> neighbours = Neighbours(op->model);
    for (size_t i = 0; i < neighbours.size(); i += 2) {
      const Budget budget = {.seed = 1, .tries = 40, .starts = 1};
      minimised += CheckMinimizations(*op, Name(neighbours[i]), budget);
    }
  }
  EXPECT_GT(minimised, 35);
}

}  // namespace
}  // namespace mmadiff
