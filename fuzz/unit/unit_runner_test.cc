// What is counted of a unit, also of one that a device did not end.
#include "fuzz/unit/unit_runner.h"

#include <gtest/gtest.h>

#include "fuzz/unit/devices.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// Answers two dot products, wrongly, and is gone.
class Broken : public Device {
 public:
  std::string name() const override { return "broken"; }
  Identity identity() const override { return Identity::Named("broken"); }
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
    ++found;
    return Next::kGoOn;
  };
  for (size_t i = 0; i < kMaxListedCases + 3; ++i) {
    EXPECT_TRUE(absl::IsUnavailable(UnitRunner(device, stream).Run(i, 1, result, note).status()));
  }
  EXPECT_EQ(found, static_cast<int>(kMaxListedCases) + 3);
  EXPECT_EQ(result.mismatches, 2 * (kMaxListedCases + 3));
  EXPECT_EQ(result.mismatching_cases.size(), kMaxListedCases);
}

// Of two results for the same cases in turn the counts add up, whatever the batches.
TEST(UnitRunner, PausesAfterABatchAndGoesOn) {
  const CaseStream stream = {FindOperation("sm_80/mma.m16n8k8.f32.f16.f16.f32"),
                             &Strategies().front(), 1};
  const DeviceOr device = OpenDevice("faulty:fraction_bits=23");
  ASSERT_TRUE(device.ok());
  const uint64_t count = 3 * UnitRunner::BatchCases(*stream.op) + 5;
  UnitResult whole, parts;
  uint64_t in_whole = 0, in_parts = 0, pauses = 0;
  const auto go_on = [&](const CaseName&, const Mismatch&) { return ++in_whole, Next::kGoOn; };
  const auto pause = [&](const CaseName&, const Mismatch&) { return ++in_parts, Next::kPause; };
  ASSERT_EQ(*UnitRunner(**device, stream).Run(0, count, whole, go_on), count);
  for (uint64_t next = 0; next < count; ++pauses) {
    const auto end = UnitRunner(**device, stream).Run(next, count - next, parts, pause);
    ASSERT_TRUE(end.ok());
    next = *end;
  }
  EXPECT_EQ(pauses, 4u);
  EXPECT_EQ(in_parts, in_whole);
  EXPECT_EQ(parts, whole);
}

}  // namespace
}  // namespace mmadiff
