#include "device/threads.h"

#include <algorithm>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"

namespace mmadiff {
namespace {

constexpr size_t kAhead = 4;  // maximum items per thread that wait for an earlier one

class Ordered {
 public:
  Ordered(size_t count, int threads, absl::FunctionRef<void(size_t, int)> work,
          absl::FunctionRef<absl::Status(size_t)> deliver)
      : count_(count),
        ahead_(threads > 1 ? kAhead * threads : 1),
        work_(work),
        deliver_(deliver),
        done_(count) {}

  void Work(int thread) {
    while (const std::optional<size_t> item = NextWork()) Do(*item, thread);
  }

  // Runs in the calling thread: also works while nothing can be delivered.
  absl::Status Deliver() {
    absl::Status status;
    while (status.ok()) {
      const Step step = NextStep();
      if (step.kind == Step::kEnd) break;
      if (step.kind == Step::kWork) {
        Do(step.item, 0);
      } else {
        status = deliver_(step.item);
        absl::MutexLock lock(&mutex_);
        ++due_;
      }
    }
    absl::MutexLock lock(&mutex_);
    next_ = count_;
    return status;
  }

 private:
  struct Step {
    enum Kind : uint8_t { kEnd, kDeliver, kWork } kind;
    size_t item = 0;
  };

  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return next_ < std::min(count_, due_ + ahead_);
  }
  bool MayWake() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return next_ == count_ || HasWork(); }
  bool MayStep() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return due_ == count_ || done_[due_] || HasWork();
  }

  std::optional<size_t> NextWork() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &Ordered::MayWake));
    if (next_ == count_) return std::nullopt;
    return next_++;
  }

  Step NextStep() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &Ordered::MayStep));
    if (due_ == count_) return {Step::kEnd};
    if (done_[due_]) return {Step::kDeliver, due_};
    return {Step::kWork, next_++};
  }

  void Do(size_t item, int thread) {
    work_(item, thread);
    absl::MutexLock lock(&mutex_);
    done_[item] = true;
  }

  const size_t count_, ahead_;
  absl::FunctionRef<void(size_t, int)> work_;
  absl::FunctionRef<absl::Status(size_t)> deliver_;
  absl::Mutex mutex_;
  std::vector<bool> done_ ABSL_GUARDED_BY(mutex_);
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;  // next item to start
  size_t due_ ABSL_GUARDED_BY(mutex_) = 0;   // next item to deliver
};

}  // namespace

int ThreadsOf(int flag) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());  // 0 if not known
  return flag > 0 ? flag : std::max(1, cores);
}

bool StartThread(std::vector<std::jthread>& threads, std::function<void()> work) {
  try {
    threads.emplace_back(std::move(work));
    return true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void InThreads(int threads, absl::FunctionRef<void(int thread)> work) {
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) {
    if (!StartThread(others, [&work, t] { work(t); })) break;
  }
  work(0);
}

absl::Status InOrder(size_t count, int threads, absl::FunctionRef<void(size_t, int)> work,
                     absl::FunctionRef<absl::Status(size_t)> deliver) {
  Ordered ordered(count, threads, work, deliver);
  absl::Status status;
  InThreads(threads, [&](int thread) {
    thread == 0 ? static_cast<void>(status = ordered.Deliver()) : ordered.Work(thread);
  });
  return status;
}

}  // namespace mmadiff
