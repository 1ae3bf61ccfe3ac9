#include "triage/race/fingerprint.h"

#include "gtest/gtest.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "triage/testing/rows.h"

namespace mmadiff {
namespace {

// Whether the words of these cases tell two rows apart.
bool TellTwo(const std::vector<DotProductCase>& cases, const Racer& x, const Racer& y) {
  for (const DotProductCase& dot : cases) {
    if (Tell(x, Simulate(x.model, dot), y, Simulate(y.model, dot))) return true;
  }
  return false;
}

size_t PairsTold(const std::vector<DotProductCase>& cases, const std::vector<Racer>& rows) {
  size_t told = 0;
  for (size_t x = 0; x < rows.size(); ++x) {
    for (size_t y = x + 1; y < rows.size(); ++y) told += TellTwo(cases, rows[x], rows[y]);
  }
  return told;
}

void Check(const std::vector<Racer>& rows) {
  const absl::StatusOr<Fingerprint> print = FindFingerprint(rows);
  ASSERT_TRUE(print.ok());
  const size_t pairs = rows.size() * (rows.size() - 1) / 2;
  EXPECT_EQ(PairsTold(print->cases, rows), pairs - print->indistinct.size()) << rows[0].name;
  for (const Indistinct& i : print->indistinct) {
    EXPECT_FALSE(TellTwo(print->cases, rows[i.x], rows[i.y]));
    EXPECT_NE(i.why, "");
  }
  // Without any one of the cases less is told apart.
  for (size_t left_out = 0; left_out < print->cases.size(); ++left_out) {
    std::vector<DotProductCase> fewer = print->cases;
    fewer.erase(fewer.begin() + left_out);
    EXPECT_LT(PairsTold(fewer, rows), pairs - print->indistinct.size()) << rows[0].name;
  }
}

TEST(Fingerprint, TellsArchitecturesApart) {
  for (const char* instruction : kTenInstructions) Check(RowsNamed(instruction));
}

TEST(Fingerprint, TellsChangesApart) {
  const Racer row = RowsNamed("mma.m16n8k16.f32.f16.f16.f32").front();
  std::vector<Racer> rows = {row};
  for (const Neighbour& n : Neighbours(row.model)) {
    if (rows.size() < 9) rows.push_back({Name(n), row.op, WithAlgorithm(*row.op, n.algorithm)});
  }
  Check(rows);
}

}  // namespace
}  // namespace mmadiff
