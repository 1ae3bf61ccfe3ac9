// From the device to the stored case and back: some operations of each family, some of their
// neighbours. Every model is in round_trip_sweep_test.cc.
#include "triage/testing/round_trip_checks.h"

namespace mmadiff {
namespace {

TEST(RoundTrip, SomeOperationsOfEachFamily) {
  RoundTripFigures figures;
  for (const Operation* op : OperationsOfEachFamily(2)) {
    std::vector<Neighbour> neighbours = Neighbours(op->model);
    neighbours.resize(std::min<size_t>(neighbours.size(), 3));
    for (const Neighbour& n : neighbours) CheckRoundTrip(*op, Name(n), /*tries=*/1000, figures);
  }
  EXPECT_GT(figures.found, 40);
  EXPECT_EQ(figures.found, figures.planted);
  EXPECT_EQ(figures.plain_scales, figures.found);  // rounding and cutting need no others
  EXPECT_EQ(figures.exactly_explained, figures.found);
  EXPECT_LT(figures.slowest, 20) << figures.slowest_name;
}

}  // namespace
}  // namespace mmadiff
