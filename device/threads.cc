#include "device/threads.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

namespace mmadiff {
namespace {

constexpr size_t kAhead = 4;  // items of a thread that wait for one before them, at most

class Ordered {
 public:
  Ordered(size_t count, int threads, const std::function<void(size_t, int)>& work,
          const std::function<absl::Status(size_t)>& deliver)
      : count_(count),
        ahead_(threads > 1 ? kAhead * threads : 1),
        work_(work),
        deliver_(deliver),
        done_(count) {}

  void Work(int thread) {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return next_ == count_ || HasWork(); });
      if (next_ == count_) return;
      Take(thread, lock);
    }
  }

  // By the calling thread: also works when nothing is to be delivered.
  absl::Status Deliver() {
    absl::Status status;
    std::unique_lock lock(mutex_);
    while (due_ < count_ && status.ok()) {
      if (done_[due_]) {
        lock.unlock();
        status = deliver_(due_);
        lock.lock();
        ++due_;
        wake_.notify_all();
      } else if (HasWork()) {
        Take(0, lock);
      } else {
        wake_.wait(lock);
      }
    }
    next_ = count_;
    wake_.notify_all();
    return status;
  }

 private:
  bool HasWork() const { return next_ < std::min(count_, due_ + ahead_); }

  void Take(int thread, std::unique_lock<std::mutex>& lock) {
    const size_t item = next_++;
    lock.unlock();
    work_(item, thread);
    lock.lock();
    done_[item] = true;
    wake_.notify_all();
  }

  const size_t count_, ahead_;
  const std::function<void(size_t, int)>& work_;
  const std::function<absl::Status(size_t)>& deliver_;
  std::mutex mutex_;  // of all that follows
  std::condition_variable wake_;
  std::vector<bool> done_;
  size_t next_ = 0, due_ = 0;  // to be taken, to be delivered
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

void InThreads(int threads, const std::function<void(int thread)>& work) {
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) {
    if (!StartThread(others, [&work, t] { work(t); })) break;
  }
  work(0);
}

absl::Status InOrder(size_t count, int threads, const std::function<void(size_t, int)>& work,
                     const std::function<absl::Status(size_t)>& deliver) {
  Ordered ordered(count, threads, work, deliver);
  absl::Status status;
  InThreads(threads, [&](int thread) {
    thread == 0 ? static_cast<void>(status = ordered.Deliver()) : ordered.Work(thread);
  });
  return status;
}

}  // namespace mmadiff
