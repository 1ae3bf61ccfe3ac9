#include "fuzz/ask/child_worker.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "device/child_process.h"
#include "device/little_endian.h"
#include "device/status_macros.h"
#include "fuzz/ask/task_server.h"

namespace mmadiff {
namespace {

constexpr size_t kLengthBytes = 4, kMaxBytes = 256 << 20;
constexpr auto kGrace = absl::Seconds(3);  // for a running task when the time is up
constexpr double kMinSeconds = 1e-3;

std::string Framed(const std::string& bytes) {
  std::string frame;
  AppendLittleEndian(bytes.size(), kLengthBytes, frame);
  return frame + bytes;
}

absl::StatusOr<size_t> LengthOf(absl::string_view frame) {
  const size_t length = ReadLittleEndian(frame.substr(0, kLengthBytes));
  if (length <= kMaxBytes) return length;
  return absl::DataLossError("a message with an invalid length");
}

bool IsLast(const AskReply& reply) {
  return reply.kind == AskReply::kIdentity || reply.kind == AskReply::kResult ||
         reply.kind == AskReply::kNotOpened;
}

class ChildProcess : public AskProcess {
 public:
  explicit ChildProcess(std::unique_ptr<KeptChild> child) : child_(std::move(child)) {}

  absl::Status Ask(const AskRequest& request, absl::FunctionRef<void(AskReply)> take,
                   absl::FunctionRef<bool()> stop) override {
    const std::string frame = Framed(SerializeRequest(request));
    const auto hear = [&](absl::string_view bytes) { return Hear(bytes, take); };
    return child_->Ask(frame, hear, stop);
  }

 private:
  // Parses replies from the bytes received so far.
  absl::StatusOr<Heard> Hear(absl::string_view bytes, absl::FunctionRef<void(AskReply)> take) {
    buffer_.append(bytes.data(), bytes.size());
    Heard heard = Heard::kNothing;
    while (buffer_.size() >= kLengthBytes) {
      ASSIGN_OR_RETURN(const size_t length, LengthOf(buffer_));
      if (buffer_.size() - kLengthBytes < length) break;
      ASSIGN_OR_RETURN(auto reply,
                       ParseAskReply(absl::string_view(buffer_).substr(kLengthBytes, length)));
      buffer_.erase(0, kLengthBytes + length);
      heard = IsLast(reply) ? Heard::kAnswer : Heard::kProgress;
      take(std::move(reply));
    }
    return heard;
  }

  const std::unique_ptr<KeptChild> child_;
  std::string buffer_;
};

bool IsStopped() { return StopSignal() != 0; }

}  // namespace

StartProcess InChild(const std::string& verb, absl::Duration timeout) {
  // Runs this same program, even if its file has been replaced. The time limit also applies to a
  // command or a kernel that the child waits for.
  const double limit = absl::ToDoubleSeconds(timeout);
  const ChildCommand command = {
      absl::StrCat("exec /proc/", getpid(), "/exe ", verb),
      {absl::StrCat("MMADIFF_EXEC_TIMEOUT=", limit), absl::StrCat("MMADIFF_GPU_TIMEOUT=", limit)},
      timeout,
      /*named=*/false};
  return [command]() -> absl::StatusOr<std::unique_ptr<AskProcess>> {
    ASSIGN_OR_RETURN(std::unique_ptr<KeptChild> child, StartKeptChild(command));
    return std::make_unique<ChildProcess>(std::move(child));
  };
}

absl::Status ServeTasks() {
  const auto open = [](const std::string& spec) { return OpenEngine(spec); };
  const auto send = [](const AskReply& reply) {
    const std::string frame = Framed(SerializeReply(reply));
    std::fwrite(frame.data(), 1, frame.size(), stdout);
    std::fflush(stdout);
  };
  TaskServer server(open, send);
  for (std::string bytes(kLengthBytes, 0); std::cin.read(bytes.data(), kLengthBytes);) {
    ASSIGN_OR_RETURN(const size_t length, LengthOf(bytes));
    std::string request(length, 0);
    std::cin.read(request.data(), static_cast<std::streamsize>(request.size()));
    ASSIGN_OR_RETURN(const AskRequest parsed, ParseAskRequest(request));
    server.Serve(parsed);
  }
  return absl::OkStatus();
}

absl::StatusOr<SurveyManifest> ChildWorker::Identify(const std::string& device, uint64_t seed,
                                                     const std::vector<std::string>& globs) {
  SurveyManifest asked;
  asked.device = device;
  asked.seed = seed;
  SetManifest(asked);
  ASSIGN_OR_RETURN(AskReply reply, Ask({.identify = globs}, IsStopped));
  if (reply.kind == AskReply::kNotOpened) return reply.status;
  return std::move(reply.identity);
}

void ChildWorker::SetManifest(const SurveyManifest& manifest) {
  manifest_ = manifest;
  told_ = false;
}

// Returns the last reply. After an error there is no process.
absl::StatusOr<AskReply> ChildWorker::Ask(AskRequest request, absl::FunctionRef<bool()> stop) {
  begun_ = false;
  if (process_ == nullptr) {
    ASSIGN_OR_RETURN(std::unique_ptr<AskProcess> started, start_());
    process_ = std::move(started);
    told_ = false;
  }
  if (!std::exchange(told_, true)) request.manifest = manifest_;
  AskReply last;
  const auto take = [&](AskReply reply) {
    begun_ |= reply.kind == AskReply::kBegun;
    if (reply.kind == AskReply::kAsked && !reply.asked.empty()) {
      asked_ = {.kind = KillingInput::kLines,
                .first = reply.asked.front(),
                .count = reply.asked.size(),
                .lines = std::move(reply.asked)};
    }
    last = std::move(reply);
  };
  if (absl::Status s = process_->Ask(request, take, stop); !s.ok()) {
    process_.reset();
    const bool died = !absl::IsCancelled(s) && !absl::IsDeadlineExceeded(s);
    return died ? absl::UnavailableError(s.message()) : s;
  }
  return last;
}

TaskResult ChildWorker::Do(Task task, absl::FunctionRef<bool()> stop) {
  const auto& stage = std::get<StageTask>(task.what);
  asked_ = {};
  AskRequest request = {.task = stage.name, .part = stage.part, .announce = task.alone};
  if (stage.name.stage == SurveyStage::kRun) {
    const CaseStream stream = {&task.op(), &Strategies().front(), manifest_.seed};
    asked_ = {.kind = KillingInput::kCases,
              .first = FormatCaseName({stream, stage.part.first}),
              .count = stage.part.count};
    request.announce = false;
  }
  return Do(std::move(task), std::move(request), stop);
}

TaskResult ChildWorker::Do(Task task, AskRequest request, absl::FunctionRef<bool()> stop) {
  // A signal ends the task at once.
  const auto must_end = [stop] { return IsStopped() || stop(); };
  const absl::Duration left = limit_.Left();
  request.seconds = std::max(kMinSeconds, absl::ToDoubleSeconds(left + kGrace));
  TaskResult result;
  result.task = std::move(task);
  SurveyResult& answer = result.answer.emplace<SurveyResult>();
  answer.task = request.task;
  absl::StatusOr<AskReply> reply = Ask(std::move(request), must_end);
  if (reply.ok() && reply->kind == AskReply::kResult) answer = std::move(reply->result);
  result.status = !reply.ok() ? reply.status() : begun_ ? answer.status : reply->status;
  result.begun = begun_;
  if (!result.status.ok() && !IsOfOperation(result.status)) Restart();
  return result;
}

bool ChildWorker::Kills(const Task& died, const KillingInput& input,
                        absl::FunctionRef<bool()> stop) {
  const SurveyTask& name = std::get<StageTask>(died.what).name;
  Restart();
  const TaskResult tried =
      Do(died, {.task = {SurveyStage::kTrap, name.op, name.variant}, .input = input}, stop);
  return tried.begun &&
         (absl::IsUnavailable(tried.status) || absl::IsDeadlineExceeded(tried.status));
}

}  // namespace mmadiff
