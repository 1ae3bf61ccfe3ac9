#include "device/threads.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"

namespace mmadiff {
namespace {

constexpr size_t kAhead = 4;  // items of a thread that wait for one before them, at most

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
    absl::MutexLock lock(&mutex_);
    while (true) {
      mutex_.Await(absl::Condition(this, &Ordered::MayWake));
      if (next_ == count_) return;
      Take(thread);
    }
  }

  // By the calling thread: also works when nothing is to be delivered.
  absl::Status Deliver() {
    absl::Status status;
    absl::MutexLock lock(&mutex_);
    while (due_ < count_ && status.ok()) {
      if (done_[due_]) {
        const size_t due = due_;
        mutex_.Unlock();
        status = deliver_(due);
        mutex_.Lock();
        ++due_;
      } else if (HasWork()) {
        Take(0);
      } else {
        mutex_.Await(absl::Condition(this, &Ordered::IsDue));
      }
    }
    next_ = count_;
    return status;
  }

 private:
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return next_ < std::min(count_, due_ + ahead_);
  }
  bool MayWake() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return next_ == count_ || HasWork(); }
  bool IsDue() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return done_[due_]; }

  void Take(int thread) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const size_t item = next_++;
    mutex_.Unlock();
    work_(item, thread);
    mutex_.Lock();
    done_[item] = true;
  }

  const size_t count_, ahead_;
  absl::FunctionRef<void(size_t, int)> work_;
  absl::FunctionRef<absl::Status(size_t)> deliver_;
  absl::Mutex mutex_;
  std::vector<bool> done_ ABSL_GUARDED_BY(mutex_);
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;  // to be taken
  size_t due_ ABSL_GUARDED_BY(mutex_) = 0;   // to be delivered
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
