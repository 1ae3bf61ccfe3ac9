// Who executes tasks: a thread of this process with an engine of its own.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "fuzz/ask/task.h"
#include "fuzz/engine.h"

namespace mmadiff {

// One object serves one thread.
class Worker {
 public:
  virtual ~Worker() = default;

  // Once `stop` says true the task ends soon, with kCancelled. Failures of the device are in the
  // result.
  virtual TaskResult Do(Task task, absl::FunctionRef<bool()> stop) = 0;
  // Device::hardware(), if it was asked anything.
  virtual Hardware hardware() const = 0;
};

class EngineWorker : public Worker {
 public:
  explicit EngineWorker(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  Engine& engine() const { return *engine_; }
  TaskResult Do(Task task, absl::FunctionRef<bool()> stop) override;
  Hardware hardware() const override;

 private:
  const std::unique_ptr<Engine> engine_;
  bool asked_ = false;
};

}  // namespace mmadiff
