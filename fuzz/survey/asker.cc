#include "fuzz/survey/asker.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "device/cuda/variant.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "fuzz/survey/ask_task.h"
#include "fuzz/survey/schedule.h"

namespace mmadiff {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kGrace = 3;          // seconds, of a task when the time is up
constexpr size_t kAskedLines = 4096;  // said before the device is asked
// Of a unit of recorded digests: what others compute again in a fraction of a second.
constexpr uint64_t kDigestDotProducts = 1 << 16;
constexpr uint64_t kSmallUnit = 1 << 18;  // dot products of a run's first unit

double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

std::string IdentityOf(const Device& device) {
  const std::string fingerprint = device.Fingerprint();
  return PlainLine(device.identity() + (fingerprint.empty() ? "" : ", " + fingerprint));
}

// Says what the device is asked before it is asked.
class AnnouncingDevice : public Device {
 public:
  AnnouncingDevice(Device& device, const SendMessage& send) : device_(device), send_(send) {}

  std::string name() const override { return device_.name(); }
  std::string identity() const override { return device_.identity(); }
  bool IsSlow() const override { return device_.IsSlow(); }
  bool Emulates(const Operation& op) const override { return device_.Emulates(op); }
  absl::Status Supports(const Operation& op) const override { return device_.Supports(op); }

 private:
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    SurveyMessage message;
    message.kind = SurveyMessage::kAsked;
    const int64_t lines = std::min<int64_t>(batch.dot_products(), kAskedLines);
    for (int64_t i = 0; i < lines; ++i) {
      message.asked.push_back(FormatLine(*op.instruction, Extract(batch, i)));
    }
    send_(message);
    return device_.Run(op, batch, d);
  }

  Device& device_;
  const SendMessage& send_;
};

class Asker {
 public:
  Asker(const SurveyJob& job, const OpenSpec& open, const SendMessage& send)
      : job_(job), open_(open), send_(send), schedule_(job.manifest) {
    for (const SurveyResult& result : job.done) schedule_.Done(result);
  }

  absl::Status Run() {
    if (!job_.identify.empty()) return Identify();
    size_t listed = 0;
    for (;;) {
      std::optional<SurveyTask> task;
      const double left = Left();
      if (job_.total > 0 && left <= 0) return absl::OkStatus();
      if (job_.tasks.empty()) {
        task = schedule_.Next(job_.total - left, job_.total);
      } else if (listed < job_.tasks.size()) {
        task = job_.tasks[listed++];
      }
      if (!task.has_value()) return absl::OkStatus();
      // A device that does not open is no fault of the task.
      const absl::StatusOr<Engine*> engine = EngineOf(task->variant);
      if (!engine.ok()) return Fail(engine.status());
      SurveyMessage message;
      message.kind = SurveyMessage::kBegun;
      message.begun = *task;
      send_(message);
      const auto begun = Clock::now();
      message.result.task = *task;
      absl::Status s = Do(*task, **engine, message.result);
      if (absl::IsCancelled(s) && IsOver()) return absl::OkStatus();
      if (!s.ok() && !IsOfOperation(s)) return Fail(s);
      message.kind = SurveyMessage::kResult;
      message.result.status = absl::Status(s.code(), PlainText(s.message()));
      message.result.seconds = Seconds(begun);
      send_(message);
      schedule_.Done(message.result);
    }
  }

 private:
  double Left() const { return job_.left - Seconds(start_); }
  // Whether a task that has begun must end.
  bool IsOver() const { return job_.total > 0 && Left() < -kGrace; }

  absl::Status Fail(const absl::Status& s) {
    SurveyMessage message;
    message.kind = SurveyMessage::kFailed;
    message.failed = PlainText(s.message());
    message.usage = absl::IsInvalidArgument(s);
    message.hangs = absl::IsDeadlineExceeded(s);
    send_(message);
    return s;
  }

  // The engine behind the device specification with the variant.
  absl::StatusOr<Engine*> EngineOf(const std::string& variant) {
    std::unique_ptr<Engine>& engine = engines_[variant];
    if (engine == nullptr) {
      EngineOr opened = open_(job_.manifest.device + variant);
      if (!opened.ok()) return opened.status();
      const std::string identity = IdentityOf((*opened)->device());
      if (variant.empty() && job_.identify.empty() && identity != job_.manifest.device_identity) {
        return absl::UnavailableError(absl::StrCat("it is another device now: ", identity));
      }
      engine = *std::move(opened);
      // Whoever waits for the device asks this: so it waits, and does not hang.
      engine->device().StopWhen([this] {
        if (Seconds(alive_) > 0.5) {
          alive_ = Clock::now();
          send_({});
        }
        return IsOver();
      });
    }
    return engine.get();
  }

  absl::Status Identify() {
    const absl::StatusOr<Engine*> engine = EngineOf("");
    if (!engine.ok()) return Fail(engine.status());
    Device& device = (*engine)->device();
    SurveyMessage message;
    message.kind = SurveyMessage::kIdentity;
    message.identity.device = PlainLine(device.name());
    message.identity.device_identity = IdentityOf(device);
    std::vector<const Operation*> ops;
    for (const std::string& glob : job_.identify) {
      for (const Operation* op : MatchOperations(glob, Models::kOptional)) {
        if (std::find(ops.begin(), ops.end(), op) == ops.end()) ops.push_back(op);
      }
    }
    for (const Operation* op : ops) {
      if (!device.Supports(*op).ok()) continue;
      const CaseStream stream = {op, &Strategies().front(), job_.manifest.seed};
      SurveyManifest::Instruction& added = message.identity.instructions.emplace_back();
      added.name = op->name;
      added.emulated = device.Emulates(*op);
      if (absl::StartsWith(device.name(), "cuda:") && !absl::StrContains(device.name(), ',')) {
        for (const Variant& v : VariantsOf(*op->instruction)) {
          if (const std::string suffix = SuffixOf(v); !suffix.empty()) {
            added.variants.push_back(suffix);
          }
        }
      }
      const uint64_t small = std::max<uint64_t>(1, kSmallUnit / op->shape().d_words());
      added.unit_cases = std::min((*engine)->UnitCases(stream, UnitOf::kRun), small);
      added.digest_cases = std::max<uint64_t>(1, kDigestDotProducts / op->shape().d_words());
    }
    send_(message);
    return absl::OkStatus();
  }

  absl::Status Do(const SurveyTask& task, Engine& engine, SurveyResult& result) {
    AnnouncingDevice announcing(engine.device(), send_);
    // Alone, so that it is known on what the device died.
    Device& device = job_.tasks.empty() ? engine.device() : announcing;
    const absl::Status s =
        AskTask(job_.manifest, task, schedule_.UnitOf(task), engine, device, result);
    std::string hardware = PlainLine(engine.device().Hardware());
    if (hardware != hardware_) result.hardware = hardware_ = std::move(hardware);
    return s;
  }

  const SurveyJob& job_;
  const OpenSpec& open_;
  const SendMessage& send_;
  SurveySchedule schedule_;
  std::map<std::string, std::unique_ptr<Engine>> engines_;  // by variant
  std::string hardware_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point alive_ = start_;
};

}  // namespace

absl::Status AskSurvey(const SurveyJob& job, const OpenSpec& open, const SendMessage& send) {
  return Asker(job, open, send).Run();
}

}  // namespace mmadiff
