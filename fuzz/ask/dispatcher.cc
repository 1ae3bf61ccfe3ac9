#include "fuzz/ask/dispatcher.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "device/threads.h"

namespace mmadiff {
namespace {

using Clock = std::chrono::steady_clock;

DropCause CauseOf(const TaskResult& failed) {
  if (std::holds_alternative<PlantTask>(failed.task.what)) return DropCause::kSelfTest;
  switch (failed.status.code()) {
    case absl::StatusCode::kNotFound:
      return DropCause::kLacks;
    case absl::StatusCode::kFailedPrecondition:
      return DropCause::kLayout;
    case absl::StatusCode::kDataLoss:
      return DropCause::kGarbled;
    default:
      return DropCause::kFails;
  }
}

class Dispatcher {
 public:
  Dispatcher(const DispatchOptions& options, Agenda& agenda, TaskLog& log, Console& console)
      : options_(options), agenda_(agenda), log_(log), console_(console) {}

  DispatchOutcome Run(std::span<const std::unique_ptr<Worker>> workers) {
    StartAndWait(workers);
    if (const StopCause why = StopNow(options_.limit)) Stop(why);
    outcome_.durable.Update(log_.Flush());
    console_.Clear();
    for (const std::unique_ptr<Worker>& worker : workers) {
      Hardware hardware = worker->hardware();
      if (hardware.known()) outcome_.hardware.push_back(std::move(hardware));
    }
    outcome_.time = Elapsed();
    return std::move(outcome_);
  }

 private:
  void StartAndWait(std::span<const std::unique_ptr<Worker>> workers) {
    std::vector<std::jthread> threads;
    working_ = static_cast<int>(workers.size());
    for (const std::unique_ptr<Worker>& worker : workers) {
      if (StartThread(threads, [this, &worker] { Work(*worker); })) continue;
      std::lock_guard lock(mutex_);
      --working_;
    }
    if (threads.size() < workers.size()) {
      outcome_.warnings.push_back(
          absl::StrCat(threads.size(), " of ", workers.size(), " threads could be started"));
    }
    if (threads.empty()) {
      working_ = 1;
      Work(*workers.front());
    }
    std::unique_lock lock(mutex_);
    while (working_ > 0) {
      ended_.wait_for(lock, std::chrono::milliseconds(100));
      if (const StopCause why = StopNow(options_.limit)) Stop(why);
      agenda_.ShowProgress();
    }
  }

  void Work(Worker& worker) {
    std::deque<Task> follow_ups;
    while (std::optional<Task> task = Await(follow_ups)) {
      Settle(worker.Do(*std::move(task), [this] { return MustEnd(); }), follow_ups);
    }
    std::lock_guard lock(mutex_);
    --working_;
    ended_.notify_all();
  }

  // Nothing when all is done, or the work must end.
  std::optional<Task> Await(std::deque<Task>& follow_ups) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (const StopCause why = StopNow(options_.limit)) Stop(why);
      std::optional<Task> task;
      if (!follow_ups.empty()) {
        task = std::move(follow_ups.front());
        follow_ups.pop_front();
      } else if (!outcome_.stopped_by) {
        task = agenda_.Next(Elapsed());
        open_ += task.has_value() ? 1 : 0;
      }
      if (task.has_value()) return task;
      if (outcome_.stopped_by || open_ == 0) {
        settled_.notify_all();  // the others end too
        return std::nullopt;
      }
      settled_.wait(lock);
    }
  }

  void Settle(TaskResult result, std::deque<Task>& follow_ups) {
    std::lock_guard lock(mutex_);
    --open_;
    Judge(result);
    Keep(log_.Append(result));
    absl::StatusOr<std::vector<Task>> next = agenda_.Take(std::move(result));
    Keep(next.status());
    if (next.ok()) {
      open_ += next->size();
      follow_ups.insert(follow_ups.begin(), std::make_move_iterator(next->begin()),
                        std::make_move_iterator(next->end()));
    }
    settled_.notify_all();
  }

  void Judge(TaskResult& result) {
    const absl::Status& s = result.status;
    if (s.ok() || absl::IsCancelled(s)) return;
    if (!IsOfOperation(s)) {
      outcome_.device.Update(s);
      return Stop({StopCause::kDeviceLost});
    }
    result.drop = {&result.task.op(), CauseOf(result), s};
    if (!dropped_.insert(result.task.row).second) return;
    outcome_.drops.push_back(*result.drop);
    console_.Warn(Text(*result.drop));
  }

  void Keep(const absl::Status& durable) {
    if (durable.ok()) return;
    outcome_.durable.Update(durable);
    Stop({StopCause::kNotDurable});
  }

  void Stop(const StopCause& why) {
    if (!outcome_.stopped_by) outcome_.stopped_by = why;
    settled_.notify_all();
  }

  // For devices: the time to end by oneself is over.
  bool MustEnd() {
    if (!StopNow(options_.limit)) return false;
    Clock::rep none = 0;
    const Clock::time_point now = Clock::now();
    stop_seen_.compare_exchange_strong(none, now.time_since_epoch().count());
    return now - Clock::time_point(Clock::duration(stop_seen_)) >=
           absl::ToChronoNanoseconds(options_.grace);
  }

  absl::Duration Elapsed() const { return absl::FromChrono(Clock::now() - begun_); }

  const DispatchOptions& options_;
  Agenda& agenda_;
  TaskLog& log_;
  Console& console_;
  const Clock::time_point begun_ = Clock::now();
  std::atomic<Clock::rep> stop_seen_ = 0;  // 0: not yet

  std::mutex mutex_;                         // of all that follows, of agenda_ and of log_
  std::condition_variable settled_, ended_;  // a task has a result; a worker has ended
  DispatchOutcome outcome_;
  std::set<size_t> dropped_;  // rows
  uint64_t open_ = 0;         // tasks that run or follow a result
  int working_ = 0;           // workers
};

}  // namespace

DispatchOutcome Dispatch(const DispatchOptions& options,
                         std::span<const std::unique_ptr<Worker>> workers, Agenda& agenda,
                         TaskLog& log, Console& console) {
  return Dispatcher(options, agenda, log, console).Run(workers);
}

}  // namespace mmadiff
