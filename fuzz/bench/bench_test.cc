// What bench says of a device's answers.
#include "fuzz/bench/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "corpus/cases/strategy.h"
#include "device/open.h"

namespace mmadiff {
namespace {

bool Agrees(const std::string& device, int rounds) {
  auto opened = OpenBasicDevice(device);
  EXPECT_TRUE(opened.ok()) << opened.status();
  BenchOptions options = {.ops = {FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32")},
                          .strategy = FindStrategy("mixed"),
                          .part = absl::ZeroDuration(),  // one batch a round
                          .rounds = rounds};
  const auto [rows, status] = Bench(
      options, opened->get(), [] { return false; }, [](const Operation&) {});
  EXPECT_TRUE(status.ok()) << status;
  return rows.size() == 1 && rows.front().agrees;
}

TEST(Bench, HoldsEveryTimedAnswerAgainstTheModel) {
  EXPECT_TRUE(Agrees("faulty:none=0", 3));
  EXPECT_FALSE(Agrees("faulty:fraction_bits=24", 1));
  EXPECT_FALSE(Agrees("faulty:lost_batch=2", 3));  // its first answers are right
}

TEST(Bench, KeepsRowsBeforeOneThatFails) {
  auto device = OpenBasicDevice("faulty:dead=2");
  ASSERT_TRUE(device.ok()) << device.status();
  const std::string failing = "sm_80/mma.m16n8k16.f32.f16.f16.f32";
  BenchOptions options = {
      .ops = {FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32"), FindOperation(failing)},
      .strategy = FindStrategy("mixed"),
      .part = absl::ZeroDuration(),
      .rounds = 1};
  const auto [rows, status] = Bench(
      options, device->get(), [] { return false; }, [](const Operation&) {});
  EXPECT_EQ(rows.size(), 1u);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr(failing));
}

}  // namespace
}  // namespace mmadiff
