// Who executes tasks: a thread of this process with an engine of its own, or a process that may die
// without harm (fuzz/ask/child_worker.h).
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

  // Once `stop` says true the task ends soon, with kCancelled. Failures of the device are in the
  // result.
  virtual TaskResult Do(Task task, absl::FunctionRef<bool()> stop) = 0;
  // Of a unit that is being asked: dot products that it has answered. Any thread may call this.
  virtual uint64_t answered() const { return 0; }
  // Device::hardware(), if it was asked anything.
  virtual Hardware hardware() const = 0;

  // Whether Restart() starts a fresh process. Else there is no second time.
  virtual bool restarts() const { return false; }
  virtual void Restart() {}
  // Whether the device, started afresh, answers one dot product of zeros of the task's operation: else it is lost, whatever
  // the task asked.
  virtual bool Lives(const Task&, absl::FunctionRef<bool()> /*stop*/) { return true; }
  // What the device was asked last in a task that is `alone`.
  virtual KillingInput last_asked() const { return {}; }
  // Whether the device dies or hangs on the input, asked alone in a fresh process; `died`: the task
  // in which it did.
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

// A worker for each of several threads: of `first` and, unless it is resident, of others that `open`
// opens. Fewer where no other can be opened, or without `open`.
std::vector<std::unique_ptr<Worker>> WorkersOf(Engine& first, int threads,
                                               const EngineOpener& open);

}  // namespace mmadiff
