// A worker that has another process ask the device: the same program, started anew, which reads
// requests from stdin and writes replies to stdout, each after its length (4 bytes, little-endian).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "corpus/survey_record.h"
#include "device/stop.h"
#include "fuzz/ask/worker.h"

namespace mmadiff {

// The process that asks (fuzz/ask/task_server.h), kept for one request after another.
class AskProcess {
 public:
  virtual ~AskProcess() = default;

  // Hands on each reply, the last one before it returns. kCancelled when `stop` said so,
  // kDeadlineExceeded when it hung; any other error: it died.
  virtual absl::Status Ask(const AskRequest& request, absl::FunctionRef<void(AskReply)> take,
                           absl::FunctionRef<bool()> stop) = 0;
};
using StartProcess = std::function<absl::StatusOr<std::unique_ptr<AskProcess>>()>;

// Starts a child that is killed when nothing has come from it for `timeout`. `verb`: what the
// program is told to do, a word.
StartProcess InChild(const char* verb, absl::Duration timeout);

// The child's side, until stdin is closed. kDataLoss for what is no request.
absl::Status ServeTasks();

// Does StageTasks alone. The process lives until the device fails in it.
class ChildWorker : public Worker {
 public:
  // `limit`: a task that has begun before it ends three seconds after it.
  ChildWorker(StartProcess start, const TimeLimit& limit)
      : start_(std::move(start)), limit_(limit) {}

  // Who the device of the specification is, and which of the instructions it has. The device's
  // errors; kUnavailable, kDeadlineExceeded: the process died or hung; kCancelled.
  absl::StatusOr<SurveyManifest> Identify(const std::string& device, uint64_t seed,
                                          const std::vector<std::string>& globs);
  // The survey of which all tasks are.
  void SetManifest(const SurveyManifest& manifest);

  TaskResult Do(Task task, absl::FunctionRef<bool()> stop) override;
  Hardware hardware() const override { return {}; }
  bool restarts() const override { return true; }
  void Restart() override { process_.reset(); }
  KillingInput last_asked() const override { return asked_; }
  bool Kills(const Task& died, const KillingInput& input, absl::FunctionRef<bool()> stop) override;

 private:
  absl::StatusOr<AskReply> Ask(AskRequest request, absl::FunctionRef<bool()> stop);
  TaskResult Do(Task task, AskRequest request, absl::FunctionRef<bool()> stop);

  const StartProcess start_;
  const TimeLimit limit_;
  std::unique_ptr<AskProcess> process_;  // nullptr: to be started
  SurveyManifest manifest_;
  bool told_ = false;   // the process has the manifest
  bool begun_ = false;  // the task, with an open device
  KillingInput asked_;
};

}  // namespace mmadiff
