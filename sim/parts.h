// Work in parts, on threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace mmadiff {

struct Threads {
  // NOLINTNEXTLINE(google-explicit-constructor): most callers have only a number
  Threads(int count = 1, std::function<bool()> stop = {}) : count(count), stop(std::move(stop)) {}

  int count;                   // at least 1
  std::function<bool()> stop;  // asked by the calling thread now and then
};

// Thrown after stop() was true: some parts are left out.
struct Stopped {};

// For long parts: throws Stopped if they are to be left out.
class Poll {
 public:
  explicit Poll(const Threads& threads) : threads_(threads) {}
  void operator()() const {
    if (stopped_) throw Stopped();
    if (!threads_.stop || std::this_thread::get_id() != caller_ || !threads_.stop()) return;
    stopped_ = true;
    throw Stopped();
  }

 private:
  const Threads& threads_;
  const std::thread::id caller_ = std::this_thread::get_id();
  mutable std::atomic<bool> stopped_ = false;
};

// Calls run(part, poll) for parts 0 to `count` - 1, in any order. An exception ends the work and is
// thrown again.
template <class Run>
void ForEachPart(int64_t count, const Threads& threads, const Run& run) {
  std::atomic<int64_t> next = 0;
  std::exception_ptr thrown;
  std::mutex mutex;
  const Poll poll(threads);
  const auto work = [&] {
    try {
      for (int64_t part = next++; part < count; part = next++) {
        run(part, poll);
        poll();
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> others;
  for (int64_t i = 1; i < std::min<int64_t>(threads.count, count); ++i) {
    try {
      others.emplace_back(work);
    } catch (...) {  // no more threads: the others do the work
      break;
    }
  }
  work();
  for (std::thread& thread : others) thread.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace mmadiff
