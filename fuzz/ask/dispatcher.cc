#include "fuzz/ask/dispatcher.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "device/clock.h"
#include "device/threads.h"
#include "fuzz/ask/killing_input.h"
#include "fuzz/verdict/error_meaning.h"

namespace mmadiff {
namespace {

// Whether the task may succeed the second time, in a fresh process.
bool MayPass(const TaskResult& result) { return MeaningOf(result.status.code()).again; }

class Dispatcher {
 public:
  Dispatcher(const DispatchOptions& options, Agenda& agenda, TaskLog& log, Console& console)
      : options_(options), console_(console), agenda_(agenda), log_(log) {}

  DispatchOutcome Run(std::span<const std::unique_ptr<Worker>> workers) {
    {
      absl::MutexLock lock(&mutex_);
      if (log_.full()) Stop({StopCause::kFolderFull});
    }
    StartAndWait(workers);
    absl::MutexLock lock(&mutex_);
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
    SetWorking(static_cast<int>(workers.size()));
    for (const std::unique_ptr<Worker>& worker : workers) {
      if (StartThread(threads, [this, &worker] { Work(*worker); })) continue;
      absl::MutexLock lock(&mutex_);
      --working_;
    }
    if (threads.size() < workers.size()) {
      absl::MutexLock lock(&mutex_);
      outcome_.warnings.push_back(
          absl::StrCat(threads.size(), " of ", workers.size(), " threads could be started"));
    }
    if (threads.empty()) {
      SetWorking(1);
      Work(*workers.front());
    }
    absl::MutexLock lock(&mutex_);
    while (working_ > 0) {
      ended_.WaitWithTimeout(&mutex_, absl::Milliseconds(100));
      if (const StopCause why = StopNow(options_.limit)) Stop(why);
      uint64_t answered = 0;
      for (const std::unique_ptr<Worker>& worker : workers) answered += worker->answered();
      agenda_.ShowProgress(answered);
    }
  }

  void Work(Worker& worker) {
    std::deque<Task> follow_ups;
    while (std::optional<Task> task = Await(follow_ups)) {
      TaskResult result = Ask(worker, *std::move(task));
      if (result.begun && MayPass(result) && worker.restarts()) {
        AskAgain(worker, std::move(result), follow_ups);
      } else {
        Settle(std::move(result), follow_ups);
      }
      absl::MutexLock lock(&mutex_);
      --open_;
      settled_.SignalAll();
    }
    absl::MutexLock lock(&mutex_);
    --working_;
    ended_.SignalAll();
  }

  void SetWorking(int workers) {
    absl::MutexLock lock(&mutex_);
    working_ = workers;
  }

  // Retries, with pauses, while the device fails to open.
  TaskResult Ask(Worker& worker, Task task) {
    for (int tries = 1;; ++tries) {
      TaskResult result = worker.Do(std::move(task), [this] { return MustEnd(); });
      if (result.begun || result.status.ok() || absl::IsCancelled(result.status)) return result;
      if (tries >= options_.open_tries) return result;
      if (!Wait(tries * options_.patience)) {
        result.status = absl::CancelledError("stopped");
        return result;
      }
      worker.Restart();
      task = std::move(result.task);
    }
  }

  // Returns false if the work must end earlier.
  bool Wait(absl::Duration duration) {
    absl::MutexLock lock(&mutex_);
    const absl::Duration until = MonotonicNow() + duration;
    while (!outcome_.stopped_by && MonotonicNow() < until) {
      settled_.WaitWithTimeout(&mutex_, until - MonotonicNow());
    }
    return !outcome_.stopped_by;
  }

  void AskAgain(Worker& worker, TaskResult failed, std::deque<Task>& follow_ups) {
    failed.asked_again = true;
    console_.Warn(absl::StrCat(failed.task.Text(),
                               ": failed and is retried alone: ", failed.status.message()));
    const std::string died_of(failed.status.message());
    std::vector<Task> tasks;
    {
      absl::MutexLock lock(&mutex_);
      Keep(log_.Append(failed));
      tasks = agenda_.Again(failed);
    }
    const bool split = tasks.size() > 1;
    bool fresh = false;
    for (Task& task : tasks) {
      if (Ended() || GivesUp(task)) break;
      task.alone = true;
      if (!std::exchange(fresh, true)) worker.Restart();
      TaskResult result = Ask(worker, std::move(task));
      if (split && result.begun && MayPass(result)) {  // for the second time
        worker.Restart();
        result = Ask(worker, std::move(result.task));
      }
      result.task.alone = false;
      if (result.status.ok()) result.died_of = died_of;
      if (!result.begun || MayPass(result)) {
        Condemn(worker, result);
        fresh = false;
      }
      Settle(std::move(result), follow_ups);
    }
    if (!split || Ended()) return;
    TaskResult whole;
    whole.task = std::move(failed.task);
    whole.died_of = died_of;
    Settle(std::move(whole), follow_ups);
  }

  // The task failed for the second time. If the work ends before the failing input is known, the
  // next attempt tries the task again.
  void Condemn(Worker& worker, TaskResult& result) {
    Drop drop = {&result.task.op(), MeaningOf(result.status.code()).cause, result.status};
    if (!result.begun) {
      drop.cause = DropCause::kDeviceGone;
    } else if (!absl::IsDataLoss(result.status)) {
      if (!worker.Lives(result.task, [this] { return MustEnd(); }) && !Ended()) return;  // lost
      const auto kills = [&](const KillingInput& input) {
        return !Ended() && worker.Kills(result.task, input, [this] { return MustEnd(); });
      };
      drop.input = FindKillingInput(worker.last_asked(), drop.cause == DropCause::kHangs, kills);
      worker.Restart();
    }
    if (Ended()) {
      result.status = absl::CancelledError("stopped");
    } else {
      result.drop = std::move(drop);
    }
  }

  bool GivesUp(const Task& task) {
    absl::MutexLock lock(&mutex_);
    return agenda_.GivesUp(task);
  }

  // Returns nothing if all is done or the work must end.
  std::optional<Task> Await(std::deque<Task>& follow_ups) {
    absl::MutexLock lock(&mutex_);
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
        settled_.SignalAll();  // the others end too
        return std::nullopt;
      }
      settled_.Wait(&mutex_);
    }
  }

  void Settle(TaskResult result, std::deque<Task>& follow_ups) {
    absl::MutexLock lock(&mutex_);
    Judge(result);
    Keep(log_.Append(result));
    absl::StatusOr<std::vector<Task>> next = agenda_.Take(std::move(result));
    Keep(next.status());
    if (next.ok()) {
      open_ += next->size();
      follow_ups.insert(follow_ups.begin(), std::make_move_iterator(next->begin()),
                        std::make_move_iterator(next->end()));
    }
    settled_.SignalAll();
  }

  void Judge(TaskResult& result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const absl::Status& s = result.status;
    if (absl::IsCancelled(s)) return;
    if (!result.begun) {
      outcome_.device = absl::UnavailableError(absl::StrCat("the device is lost: ", s.message()));
      return Stop({StopCause::kDeviceLost});
    }
    if (!result.drop.has_value() && !s.ok()) {
      result.drop = DropOf(result.task.op(), s);
      if (!result.drop.has_value()) {
        outcome_.device.Update(s);
        return Stop({StopCause::kDeviceLost});
      }
      const bool plant = std::holds_alternative<PlantTask>(result.task.what);
      if (plant) result.drop->cause = DropCause::kSelfTest;
    } else if (const auto* answer = std::get_if<SurveyResult>(&result.answer);
               s.ok() && answer != nullptr) {
      if (const std::optional<DropCause> cause = CauseOf(*answer)) {
        result.drop = {&result.task.op(), *cause,
                       absl::InternalError(answer->answers.front().decides)};
      }
    }
    if (!result.drop.has_value()) return;
    const bool first = dropped_.insert(result.task.row).second;
    if (first) outcome_.drops.push_back(*result.drop);
    if (first || result.drop->input.kind != KillingInput::kUnknown) {
      console_.Warn(Text(*result.drop));
    }
  }

  bool Ended() {
    absl::MutexLock lock(&mutex_);
    if (const StopCause why = StopNow(options_.limit)) Stop(why);
    return bool{outcome_.stopped_by};
  }

  void Keep(const absl::Status& durable) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (log_.full()) Stop({StopCause::kFolderFull});
    if (durable.ok()) return;
    outcome_.durable.Update(durable);
    Stop({StopCause::kNotDurable});
  }

  void Stop(const StopCause& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!outcome_.stopped_by) outcome_.stopped_by = why;
    settled_.SignalAll();
  }

  // Whether a device must abort its task: the grace period is over.
  bool MustEnd() {
    if (!StopNow(options_.limit)) return false;
    int64_t none = 0;
    const absl::Duration now = MonotonicNow();
    stop_seen_.compare_exchange_strong(none, absl::ToInt64Nanoseconds(now));
    return now - absl::Nanoseconds(stop_seen_.load()) >= options_.grace;
  }

  absl::Duration Elapsed() const { return MonotonicNow() - begun_; }

  const DispatchOptions& options_;
  Console& console_;
  const absl::Duration begun_ = MonotonicNow();
  std::atomic<int64_t> stop_seen_ = 0;  // by the monotonic clock, ns; 0: not yet

  absl::Mutex mutex_;
  absl::CondVar settled_, ended_;  // a task has a result; a worker has ended
  Agenda& agenda_ ABSL_GUARDED_BY(mutex_);
  TaskLog& log_ ABSL_GUARDED_BY(mutex_);
  DispatchOutcome outcome_ ABSL_GUARDED_BY(mutex_);
  std::set<size_t> dropped_ ABSL_GUARDED_BY(mutex_);  // rows
  uint64_t open_ ABSL_GUARDED_BY(mutex_) = 0;         // tasks that run or follow a result
  int working_ ABSL_GUARDED_BY(mutex_) = 0;           // workers
};

}  // namespace

DispatchOutcome Dispatch(const DispatchOptions& options,
                         std::span<const std::unique_ptr<Worker>> workers, Agenda& agenda,
                         TaskLog& log, Console& console) {
  return Dispatcher(options, agenda, log, console).Run(workers);
}

}  // namespace mmadiff
