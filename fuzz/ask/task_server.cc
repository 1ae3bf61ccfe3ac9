#include "fuzz/ask/task_server.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "device/clock.h"
#include "device/cuda/variant.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "fuzz/ask/stage.h"
#include "triage/explain.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr size_t kAskedLines = 4096;  // lines announced before an execution, or kept
// Dot products in a unit of recorded digests, which a reader recomputes in a fraction of a second.
constexpr uint64_t kDigestDotProducts = 1 << 16;
constexpr uint64_t kSmallUnit = 1 << 18;  // dot products in the first unit of a run

double Seconds(absl::Duration since) { return absl::ToDoubleSeconds(MonotonicNow() - since); }

// Watches a device during a task: measures its pace, keeps the answers of slow batches and, to
// identify the input of a crash, announces each input before executing it.
class WatchedDevice : public Device {
 public:
  // `send` may be nullptr. `name`: name for the kept lines.
  WatchedDevice(Device& device, const SendReply* send, std::string name)
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
  // The answers of slow batches, each dot product once.
  std::vector<SurveyLine>& lines() { return lines_; }

 private:
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    if (send_ != nullptr) Announce(op, batch);
    const auto begun = MonotonicNow();
    absl::Status s = device_.Run(op, batch, d);
    if (d.empty()) return s;
    const double pace = Seconds(begun) / static_cast<double>(d.size());
    if (s.ok()) pace_ = pace_ == 0 ? pace : std::min(pace, pace_);
    if (pace > kSlowPace && !in_mode_) Keep(op, batch, d);
    return s;
  }

  void Announce(const Operation& op, const Batch& batch) {
    AskReply reply = {.kind = AskReply::kAsked};
    const int64_t lines = std::min<int64_t>(batch.dot_products(), kAskedLines);
    for (int64_t i = 0; i < lines; ++i) {
      reply.asked.push_back(FormatLine(*op.instruction, Extract(batch, i)));
    }
    (*send_)(reply);
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
  const SendReply* send_;
  const std::string name_;
  bool in_mode_ = false;  // a mode is set: answers are not those of the plain device
  double pace_ = 0;
  std::vector<SurveyLine> lines_;
  std::set<DotProductCase> kept_;
};

// Reduces a result that ended with an error to the part answered up to then, which may be empty.
void KeepAnswered(std::vector<SurveyLine> lines, SurveyResult& result) {
  const SurveyStage stage = result.task.stage;
  if (!HasParts(stage)) {
    SurveyResult part;
    part.task = std::move(result.task);
    part.status = std::move(result.status);
    part.seconds = result.seconds;
    // Single lines prove nothing about a layout or a crash.
    if (stage != SurveyStage::kLayout && stage != SurveyStage::kTrap) part.lines = std::move(lines);
    part.dot_products = part.lines.size();
    part.mismatches = std::ranges::count(part.lines, true, &SurveyLine::differs);
    result = std::move(part);
  }
  result.unfinished = !result.lines.empty() || !result.outputs.empty();
}

}  // namespace

void TaskServer::Serve(const AskRequest& request) {
  begun_ = alive_ = MonotonicNow();
  limit_ = request.seconds;
  if (request.manifest.has_value()) manifest_ = *request.manifest;
  request.identify.empty() ? Do(request) : Identify(request);
}

bool TaskServer::IsOver() const { return limit_ > 0 && Seconds(begun_) > limit_; }

void TaskServer::SendNotOpened(const absl::Status& s) {
  AskReply reply = {.kind = AskReply::kNotOpened};
  reply.status = absl::Status(s.code(), PlainText(s.message()));
  send_(reply);
}

absl::StatusOr<Engine*> TaskServer::EngineOf(const std::string& variant) {
  std::unique_ptr<Engine>& engine = engines_[variant];
  if (engine != nullptr) return engine.get();
  ASSIGN_OR_RETURN(std::unique_ptr<Engine> opened, open_(manifest_.device + variant));
  const Identity identity = IdentityOfRun(opened->device());
  const bool known = !manifest_.device_identity.empty();
  if (variant.empty() && known && !(identity == manifest_.device_identity)) {
    return absl::UnavailableError(absl::StrCat("a different device answers now: ", Name(identity)));
  }
  engine = std::move(opened);
  // The engine calls this while it waits for the device, which shows the parent that it is not
  // hung.
  engine->device().StopWhen([this] {
    if (Seconds(alive_) > 0.5) {
      alive_ = MonotonicNow();
      send_({});
    }
    return IsOver();
  });
  return engine.get();
}

void TaskServer::Identify(const AskRequest& request) {
  const absl::StatusOr<Engine*> engine = EngineOf("");
  if (!engine.ok()) return SendNotOpened(engine.status());
  Device& device = (*engine)->device();
  AskReply reply = {.kind = AskReply::kIdentity};
  reply.identity.device = PlainLine(device.name());
  reply.identity.device_identity = IdentityOfRun(device);
  std::vector<const Operation*> ops;
  for (const std::string& glob : request.identify) {
    const bool lists = !device.SupportsAny() || glob.find_first_of("*?[") == glob.npos;
    for (const Operation* op : MatchOperations(glob, Models::kOptional)) {
      if (op->instruction->is_conversion() && !lists) continue;  // as ChooseOperations()
      if (std::ranges::find(ops, op) == ops.end()) ops.push_back(op);
    }
  }
  for (const Operation* op : ops) {
    if (!device.Supports(*op).ok()) continue;
    const CaseStream stream = {op, &Strategies().front(), manifest_.seed};
    SurveyManifest::Instruction& added = reply.identity.instructions.emplace_back();
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
  send_(reply);
}

void TaskServer::Do(const AskRequest& request) {
  const SurveyTask& task = request.task;
  const absl::StatusOr<Engine*> opened = EngineOf(task.variant);
  if (!opened.ok()) return SendNotOpened(opened.status());
  Engine& engine = **opened;
  send_({.kind = AskReply::kBegun});
  AskReply reply = {.kind = AskReply::kResult};
  SurveyResult& result = reply.result;
  result.task = task;
  WatchedDevice device(engine.device(), request.announce ? &send_ : nullptr, Name(task.stage));
  HostEngine observed(device);
  Engine& asked = engine.resident() ? engine : observed;
  const absl::Duration begun = MonotonicNow();
  const absl::Status s = AskStage(manifest_, request, asked, device, result);
  result.seconds = Seconds(begun);
  result.pace = device.pace();
  result.status = absl::Status(s.code(), PlainText(s.message()));
  std::string hardware = Name(engine.device().hardware());
  if (hardware != hardware_) result.hardware = hardware_ = std::move(hardware);
  if (!s.ok() && !IsOfOperation(s)) KeepAnswered(std::move(device.lines()), result);
  send_(reply);
}

}  // namespace mmadiff
