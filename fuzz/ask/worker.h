// A worker executes tasks: a thread of this process with its own engine, or a child process that
// may crash without harm (fuzz/ask/child_worker.h).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "fuzz/ask/task.h"
#include "fuzz/engine/engine.h"

namespace mmadiff {

// One object serves one thread.
class Worker {
 public:
  virtual ~Worker() = default;

  // Once `stop` returns true, the task ends soon with kCancelled. Device errors are in the result.
  virtual TaskResult Do(Task task, absl::FunctionRef<bool()> stop) = 0;
  // Dot products answered in the running unit. Any thread may call this.
  virtual uint64_t answered() const { return 0; }
  // Device::hardware(), if the device was used.
  virtual Hardware hardware() const = 0;

  // Whether Restart() starts a fresh process. If not, a failed task gets no second try.
  virtual bool restarts() const { return false; }
  virtual void Restart() {}
  // Whether the restarted device answers one dot product of zeros for the task's operation. If not,
  // the device is lost, whatever the task was.
  virtual bool Lives(const Task&, absl::FunctionRef<bool()> /*stop*/) { return true; }
  // The last input in a task that is `alone`.
  virtual KillingInput last_asked() const { return {}; }
  // Whether the device crashes or hangs on the input alone, in a fresh process. The task is the one
  // in which it crashed.
  virtual bool Kills(const Task&, const KillingInput&, absl::FunctionRef<bool()> /*stop*/) {
    return false;
  }
};

class EngineWorker : public Worker {
 public:
  explicit EngineWorker(std::unique_ptr<Engine> engine)
      : owned_(std::move(engine)), engine_(*owned_), restarts_(engine_.device().Restart()) {}
  explicit EngineWorker(Engine& engine) : engine_(engine), restarts_(engine_.device().Restart()) {}

  Engine& engine() const { return engine_; }
  TaskResult Do(Task task, absl::FunctionRef<bool()> stop) override;
  Hardware hardware() const override;
  uint64_t answered() const override;
  bool restarts() const override { return restarts_; }
  void Restart() override { engine_.device().Restart(); }
  bool Lives(const Task& task, absl::FunctionRef<bool()> stop) override;

 private:
  const std::unique_ptr<Engine> owned_;
  Engine& engine_;
  const bool restarts_;
  bool asked_ = false;
  std::atomic<int64_t> begun_at_ = -1;  // Device::answered() when the unit began; -1: none runs
};

// Up to `threads` workers: one for `first` and, unless `first` is resident, others with engines
// from `open`. Fewer if an engine fails to open, or without `open`.
std::vector<std::unique_ptr<Worker>> WorkersOf(Engine& first, int threads,
                                               const EngineOpener& open);

}  // namespace mmadiff
