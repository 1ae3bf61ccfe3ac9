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

// Whenever a stop comes: nothing is named or kept, and the device is hardly asked any more.
TEST(Investigate, AStopEndsIt) {
  const Row& row = *FindRow("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  Algorithm planted = row.model.algorithm;
  planted.fraction_bits -= 1;
  const Model changed = WithAlgorithm(row, planted);
  Mismatch mismatch;
  ASSERT_TRUE(FirstMismatch(row, changed, 1, mismatch));
  const Executions cases = ExecutionsOf({&row, &Strategies().front(), 1});
  ModelDevice whole(changed);
  ASSERT_TRUE(Investigate(whole, mismatch, cases).ok());
  for (int64_t after = 0; after < whole.executions; after += 1 + whole.executions / 20) {
    ModelDevice device(changed);
    device.StopWhen([&] { return device.executions >= after; });
    const auto i = Investigate(device, mismatch, cases);
    EXPECT_TRUE(absl::IsCancelled(i.status())) << after << ": " << i.status();
    EXPECT_LE(device.executions, after + 600) << after;
  }
}

// Far from the table's value: one case in hundreds tells one of them from the next.
TEST(Investigate, AFloorAnywhere) {
  InvestigateFigures figures;
  for (const char* name :
       {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "sm_80/mma.m16n8k8.f32.bf16.bf16.f32"}) {
    const Row& row = *FindRow(name);
    const std::vector<DotProductCase> dots = CheckedDots(row, 1), others = CheckedDots(row, 77);
    for (const int floor : {-100, -61, -60, -33, 7}) {
      Algorithm planted = row.model.algorithm;
      FindParameter(planted.family, "exponent_floor")->set(planted, floor);
      CheckPlanted(row, planted, dots, others, figures);
    }
  }
  EXPECT_EQ(figures.right, figures.planted);
  EXPECT_TRUE(figures.unrefuted.empty());
  EXPECT_TRUE(figures.rare.empty());
}

}  // namespace
}  // namespace mmadiff
