// A worker that queries the device from a child process. The child runs the same program, reads
// requests from stdin and writes replies to stdout, each preceded by its length (4 bytes,
// little-endian).
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

// The child process (fuzz/ask/task_server.h), which serves one request after another.
class AskProcess {
 public:
  virtual ~AskProcess() = default;

  // Passes each reply to `take`, the last one before it returns. kCancelled if `stop` returned
  // true, kDeadlineExceeded if the process hung; any other error: it crashed.
  virtual absl::Status Ask(const AskRequest& request, absl::FunctionRef<void(AskReply)> take,
                           absl::FunctionRef<bool()> stop) = 0;
};
using StartProcess = std::function<absl::StatusOr<std::unique_ptr<AskProcess>>()>;

// Starts a child that is killed after no output for `timeout`. `verb`: the program's verb and flags.
StartProcess InChild(const std::string& verb, absl::Duration timeout);

// The child's side; returns when stdin is closed. kDataLoss for a malformed request.
absl::Status ServeTasks();

// Runs StageTasks only. The process is kept until the device fails in it.
class ChildWorker : public Worker {
 public:
  // `limit`: a task that is running at the limit ends at most three seconds later.
  ChildWorker(StartProcess start, const TimeLimit& limit)
      : start_(std::move(start)), limit_(limit) {}

  // The identity of the device and the matching instructions that it has. Errors are the device's;
  // kUnavailable, kDeadlineExceeded: the process crashed or hung; kCancelled.
  absl::StatusOr<SurveyManifest> Identify(const std::string& device, uint64_t seed,
                                          const std::vector<std::string>& globs);
  // Sets the survey that all tasks belong to.
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
  bool begun_ = false;  // the device is open and the task has begun
  KillingInput asked_;
};

}  // namespace mmadiff
