// What is counted of a unit, also of one that a device did not end.
#include "fuzz/unit_runner.h"

#include <gtest/gtest.h>

#include "sim/simulate.h"

namespace mmadiff {
namespace {

// Answers two dot products, wrongly, and is gone.
class Broken : public Device {
 public:
  std::string name() const override { return "broken"; }
  std::string identity() const override { return "broken"; }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    d.resize(batch.dot_products());
    Simulate(op.model, batch, d);
    for (uint64_t& word : d) word ^= 1;
    d.resize(2);
    return absl::UnavailableError("gone");
  }
};

TEST(UnitRunner, ListsSoManyCasesAndCountsAll) {
  const CaseStream stream = {FindOperation("sm_80/mma.m16n8k32.s32.s8.s8.s32"),
                             &Strategies().front(), 1};
  ASSERT_NE(stream.op, nullptr);
  Broken device;
  UnitResult result;
  int found = 0;
  const auto note = [&found](const CaseName&, const Mismatch&) {
    return ++found, absl::OkStatus();
  };
  for (size_t i = 0; i < kMostListedCases + 3; ++i) {
    EXPECT_TRUE(absl::IsUnavailable(UnitRunner(device, stream).Run(i, 1, result, note)));
  }
  EXPECT_EQ(found, static_cast<int>(kMostListedCases) + 3);
  EXPECT_EQ(result.mismatches, 2 * (kMostListedCases + 3));
  EXPECT_EQ(result.mismatching_cases.size(), kMostListedCases);
}

}  // namespace
}  // namespace mmadiff
