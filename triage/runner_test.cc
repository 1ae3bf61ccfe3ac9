#include "triage/runner.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;

const Operation& Fma() { return *FindOperation("x86/vfmadd231ss"); }

Batch Products(std::vector<uint64_t> a) {
  std::vector<DotProductCase> dots;
  for (const uint64_t word : a) dots.push_back({{word}, {0x3f800000}, 0});
  return MakeDotProductBatch(Fma().shape(), dots);
}

// Knows some operands and answers 7 to them; no batch that holds another one.
class Recording : public ChangedDevice {
 public:
  Recording() : ChangedDevice("") {}
  absl::Status Execute(const Operation&, const Batch& batch, std::vector<uint64_t>& d) override {
    for (const uint64_t a : batch.a) {
      if (a != 0x40000000) return absl::NotFoundError("not recorded");
    }
    d.assign(batch.dot_products(), 7);
    return absl::OkStatus();
  }
};

TEST(Runner, CountsWhatItSpends) {
  ChangedDevice device("");
  Runner runner(device, Fma(), 3);
  EXPECT_TRUE(runner.HasBudget());
  EXPECT_THAT(*runner.Run(Products({0x40000000, 0x3f800000})), ElementsAre(0x40000000, 0x3f800000));
  EXPECT_EQ(runner.executions(), 2);
  EXPECT_EQ(runner.left(), 1);
  ASSERT_TRUE(runner.Run(Products({0, 0})).ok()) << "the last call may be larger than what is left";
  EXPECT_FALSE(runner.HasBudget());
  EXPECT_EQ(device.executions, 4);
}

TEST(Runner, WhatARecordingDoesNotKnowIsTheModels) {
  Recording device;
  Runner runner(device, Fma(), 100);
  EXPECT_TRUE(absl::IsNotFound(runner.Run(Products({0x40000000, 0x3f800000})).status()));
  EXPECT_THAT(*runner.Try(Products({0x40000000, 0x3f800000})), ElementsAre(7, 0x3f800000));
}

TEST(Runner, OtherErrorsAreTheDevices) {
  DyingDevice device("", 1);
  Runner runner(device, Fma(), 100);
  EXPECT_TRUE(runner.Try(Products({0})).ok());
  EXPECT_TRUE(absl::IsUnavailable(runner.Try(Products({0})).status()));
}

}  // namespace
}  // namespace mmadiff
