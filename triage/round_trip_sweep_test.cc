// Every model with its first neighbours: planted, found, minimised, explained, stored and read. All
// neighbours are minimised in minimize_sweep_test.cc.
#include <cstdio>

#include "triage/testing/round_trip_checks.h"

namespace mmadiff {
namespace {

void Print(const RoundTripFigures& f) {
  for (const std::string& missed : f.missed) std::printf("not found: %s\n", missed.c_str());
  std::printf(
      "%d planted, %d found, %d with plain scales, %d explained by the planted change itself\n"
      "%lld executions, %.1f s of minimisation, slowest %.2f s: %s\n",
      f.planted, f.found, f.plain_scales, f.exactly_explained, static_cast<long long>(f.executions),
      f.seconds, f.slowest, f.slowest_name.c_str());
}

class RoundTripSweep : public testing::TestWithParam<std::string> {};

TEST_P(RoundTripSweep, EveryModelAndNeighbour) {
  RoundTripFigures figures;
  for (const Operation* op : DistinctOperations()) {
    if (op->arch() != GetParam()) continue;
    std::vector<Neighbour> neighbours = Neighbours(op->model);
    neighbours.resize(std::min<size_t>(neighbours.size(), 6));
    for (const Neighbour& n : neighbours) CheckRoundTrip(*op, Name(n), /*tries=*/500, figures);
  }
  Print(figures);
  // Random operands show most changes; the others need the generator.
  EXPECT_GT(figures.found, figures.planted / 2);
}

std::vector<std::string> ArchitecturesOfDistinctOperations() {
  std::vector<std::string> names;
  for (const Operation* op : DistinctOperations()) {
    if (names.empty() || names.back() != op->arch()) names.emplace_back(op->arch());
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(, RoundTripSweep, testing::ValuesIn(ArchitecturesOfDistinctOperations()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace mmadiff
