#include "fuzz/ask/worker.h"

namespace mmadiff {

TaskResult EngineWorker::Do(Task task, absl::FunctionRef<bool()> stop) {
  asked_ = true;
  Device& device = engine_.device();
  device.StopWhen(stop);
  TaskResult result = Ask(std::move(task), engine_);
  device.StopWhen(nullptr);
  return result;
}

bool EngineWorker::Lives(const Task& task, absl::FunctionRef<bool()> stop) {
  const Operation& op = task.op();
  Batch zeros;
  zeros.Resize(DotProductShape(op.shape()), 1);
  Device& device = engine_.device();
  device.StopWhen(stop);
  const bool lives = device.Run(op, zeros).ok();
  device.StopWhen(nullptr);
  return lives;
}

Hardware EngineWorker::hardware() const {
  return asked_ ? engine_.device().hardware() : Hardware();
}

std::vector<std::unique_ptr<Worker>> WorkersOf(Engine& first, int threads,
                                               const EngineOpener& open) {
  std::vector<std::unique_ptr<Worker>> workers;
  workers.push_back(std::make_unique<EngineWorker>(first));
  while (open != nullptr && !first.resident() && static_cast<int>(workers.size()) < threads) {
    EngineOr opened = open();
    if (!opened.ok()) break;
    workers.push_back(std::make_unique<EngineWorker>(*std::move(opened)));
  }
  return workers;
}

}  // namespace mmadiff
