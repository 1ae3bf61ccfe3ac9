// Items that several threads work on come one after the other.
#include "device/threads.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

namespace mmadiff {
namespace {

using testing::Each;

constexpr size_t kItems = 200;

TEST(ThreadsTest, EachThreadIsCalledOnce) {
  std::vector<int> calls(7);
  InThreads(7, [&](int thread) { ++calls[thread]; });
  EXPECT_THAT(calls, Each(1));
}

TEST(ThreadsTest, ItemsAreDeliveredInOrder) {
  const std::thread::id caller = std::this_thread::get_id();
  for (const int threads : {1, 2, 5}) {
    std::vector<size_t> worked(kItems), delivered, expected(kItems);
    std::iota(expected.begin(), expected.end(), size_t{0});
    const auto work = [&](size_t i, int thread) {
      EXPECT_LT(thread, threads);
      EXPECT_EQ(thread == 0, std::this_thread::get_id() == caller);
      // Early items take longer.
      std::this_thread::sleep_for(std::chrono::microseconds(i % 3 == 0 ? 500 : 1));
      worked[i] = i + 1;
    };
    const absl::Status s = InOrder(kItems, threads, work, [&](size_t i) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(worked[i], i + 1);
      delivered.push_back(i);
      return absl::OkStatus();
    });
    EXPECT_TRUE(s.ok()) << s;
    EXPECT_EQ(delivered, expected);
  }
}

TEST(ThreadsTest, AnErrorEndsTheWorkSoon) {
  for (const int threads : {1, 2, 5}) {
    std::atomic<size_t> worked = 0;
    size_t delivered = 0;
    const absl::Status s = InOrder(
        kItems, threads, [&](size_t, int) { ++worked; },
        [&](size_t i) {
          ++delivered;
          return i == 9 ? absl::AbortedError("nine") : absl::OkStatus();
        });
    EXPECT_EQ(s, absl::AbortedError("nine"));
    EXPECT_EQ(delivered, 10u);
    EXPECT_LE(worked, threads == 1 ? 10u : 10u + 4 * threads);
  }
}

TEST(ThreadsTest, NothingToDoIsNoError) {
  const auto never = [](size_t, int) { ADD_FAILURE(); };
  EXPECT_TRUE(InOrder(0, 3, never, [](size_t) { return absl::InternalError("called"); }).ok());
}

}  // namespace
}  // namespace mmadiff
