#include "fuzz/survey/asker.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "device/cuda/variant.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "fuzz/survey/ask_task.h"
#include "fuzz/survey/schedule.h"
#include "triage/explain.h"
#include "triage/verdict.h"

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

// Of a task that a device begins: how fast it is, what it answered while it was slow, and, if
// people are to know on what it dies, what it is asked before it is asked.
class ObservedDevice : public Device {
 public:
  // `send` may be nullptr. `name`: of the lines.
  ObservedDevice(Device& device, const SendMessage* send, std::string name)
      : device_(device), send_(send), name_(std::move(name)) {}

  std::string name() const override { return device_.name(); }
  Identity identity() const override { return device_.identity(); }
  bool IsSlow() const override { return device_.IsSlow(); }
  std::vector<std::string> Modes() const override { return device_.Modes(); }
  void SetMode(absl::string_view mode) override {
    device_.SetMode(mode);
    in_mode_ = !mode.empty();
  }
  bool StartsAnew() const override { return device_.StartsAnew(); }
  bool Emulates(const Operation& op) const override { return device_.Emulates(op); }
  absl::Status Supports(const Operation& op) const override { return device_.Supports(op); }

  double pace() const { return pace_; }
  // Of slow batches, each dot product once.
  std::vector<SurveyLine>& lines() { return lines_; }

 private:
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    if (send_ != nullptr) Announce(op, batch);
    const Clock::time_point begun = Clock::now();
    absl::Status s = device_.Run(op, batch, d);
    if (d.empty()) return s;
    const double pace = Seconds(begun) / static_cast<double>(d.size());
    if (s.ok()) pace_ = pace_ == 0 ? pace : std::min(pace, pace_);
    if (pace > kSlowPace && !in_mode_) Keep(op, batch, d);
    return s;
  }

  void Announce(const Operation& op, const Batch& batch) {
    SurveyMessage message;
    message.kind = SurveyMessage::kAsked;
    const int64_t lines = std::min<int64_t>(batch.dot_products(), kAskedLines);
    for (int64_t i = 0; i < lines; ++i) {
      message.asked.push_back(FormatLine(*op.instruction, Extract(batch, i)));
    }
    (*send_)(message);
  }

  void Keep(const Operation& op, const Batch& batch, const std::vector<uint64_t>& d) {
    for (size_t i = 0; i < d.size() && lines_.size() < kAskedLines; ++i) {
      const DotProductCase dot = Extract(batch, static_cast<int64_t>(i));
      if (!kept_.insert(dot).second) continue;
      const bool differs = IsModelled(op) && !Gives(op, op.model, dot, d[i]);
      lines_.push_back({name_, FormatLine(*op.instruction, dot, d[i]), differs});
    }
  }

  Device& device_;
  const SendMessage* send_;
  const std::string name_;
  bool in_mode_ = false;  // its answers are not those of name()
  double pace_ = 0;
  std::vector<SurveyLine> lines_;
  std::set<DotProductCase> kept_;
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
      ObservedDevice device((*engine)->device(), job_.tasks.empty() ? nullptr : &send_,
                            Name(task->stage));
      absl::Status s = Do(*task, **engine, device, message.result);
      message.result.seconds = Seconds(begun);
      const bool over = absl::IsCancelled(s) && IsOver();
      if (over || (!s.ok() && !IsOfOperation(s))) {
        KeepUnfinished(message.result, std::move(device.lines()));
        return over ? absl::OkStatus() : Fail(s);
      }
      message.kind = SurveyMessage::kResult;
      message.result.status = absl::Status(s.code(), PlainText(s.message()));
      send_(message);
      schedule_.Done(message.result);
    }
  }

 private:
  double Left() const { return job_.left - Seconds(start_); }
  // Whether a task that has begun must end.
  bool IsOver() const { return job_.total > 0 && Left() < -kGrace; }

  // What was answered of a task that ends before its end.
  void KeepUnfinished(SurveyResult result, std::vector<SurveyLine> lines) {
    const SurveyStage stage = result.task.stage;
    // Where the elements are, and what traps, single lines do not say.
    if (stage == SurveyStage::kLayout || stage == SurveyStage::kTrap) return;
    if (!HasParts(stage)) {
      SurveyResult part;
      part.task = std::move(result.task);
      part.seconds = result.seconds;
      part.dot_products = lines.size();
      part.mismatches = std::ranges::count(lines, true, &SurveyLine::differs);
      part.lines = std::move(lines);
      result = std::move(part);
    }
    if (result.lines.empty() && result.outputs.empty()) return;
    result.unfinished = true;
    SurveyMessage message;
    message.kind = SurveyMessage::kResult;
    message.result = std::move(result);
    send_(message);
  }

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
      const Identity identity = IdentityOfRun((*opened)->device());
      if (variant.empty() && job_.identify.empty() &&
          !(identity == job_.manifest.device_identity)) {
        return absl::UnavailableError(absl::StrCat("it is another device now: ", Name(identity)));
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
    message.identity.device_identity = IdentityOfRun(device);
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

  absl::Status Do(const SurveyTask& task, Engine& engine, ObservedDevice& device,
                  SurveyResult& result) {
    HostEngine observed(device);
    Engine& asked = engine.resident() ? engine : observed;
    const absl::Status s =
        AskTask(job_.manifest, task, schedule_.UnitOf(task), asked, device, result);
    result.pace = device.pace();
    std::string hardware = Name(engine.device().hardware());
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
