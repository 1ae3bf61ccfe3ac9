#include "fuzz/ask/worker.h"

namespace mmadiff {

TaskResult EngineWorker::Do(Task task, absl::FunctionRef<bool()> stop) {
  asked_ = true;
  Device& device = engine_->device();
  device.StopWhen(stop);
  TaskResult result = Ask(std::move(task), *engine_);
  device.StopWhen(nullptr);
  return result;
}

std::string EngineWorker::Hardware() const { return asked_ ? engine_->device().Hardware() : ""; }

}  // namespace mmadiff
