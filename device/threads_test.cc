// Items that several threads work on come one after the other.
#include "device/threads.h"

#include <gmock/gmock.h>
#include <pthread.h>

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

// Threads whose stacks no address space has.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t none;
    pthread_attr_init(&none);
    pthread_attr_setstacksize(&none, size_t{1} << 55);
    pthread_setattr_default_np(&none);
    pthread_attr_destroy(&none);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

TEST(ThreadsTest, WhereNoThreadCanBeHadTheCallerWorksAlone) {
  const NoThreads none;
  std::vector<std::jthread> threads;
  EXPECT_FALSE(StartThread(threads, [] { FAIL(); }));
  EXPECT_TRUE(threads.empty());
  std::vector<int> called;
  InThreads(7, [&](int thread) { called.push_back(thread); });
  EXPECT_THAT(called, testing::ElementsAre(0));
  size_t delivered = 0;
  const absl::Status s = InOrder(
      kItems, 5, [](size_t, int thread) { EXPECT_EQ(thread, 0); },
      [&](size_t i) {
        EXPECT_EQ(i, delivered++);
        return absl::OkStatus();
      });
  EXPECT_TRUE(s.ok()) << s;
  EXPECT_EQ(delivered, kItems);
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
