#include "fuzz/ask/worker.h"

namespace mmadiff {

TaskResult EngineWorker::Do(Task task, absl::FunctionRef<bool()> stop) {
  asked_ = true;
  Device& device = engine_.device();
  device.StopWhen(stop);
  if (std::holds_alternative<UnitTask>(task.what)) begun_at_ = device.answered();
  TaskResult result = Ask(std::move(task), engine_);
  begun_at_ = -1;
  device.StopWhen(nullptr);
  return result;
}

uint64_t EngineWorker::answered() const {
  const int64_t begun_at = begun_at_;
  return begun_at < 0 ? 0 : static_cast<uint64_t>(engine_.device().answered() - begun_at);
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
