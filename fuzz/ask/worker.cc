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

Hardware EngineWorker::hardware() const {
  return asked_ ? engine_->device().hardware() : Hardware();
}

}  // namespace mmadiff
