#include "fuzz/survey/survey.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "corpus/durable_file.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/survey_log.h"
#include "device/clock.h"
#include "device/status_macros.h"
#include "device/stop.h"
#include "fuzz/ask/dispatcher.h"
#include "fuzz/ask/known_cases.h"
#include "fuzz/folder/workdir.h"
#include "fuzz/record/raw_cases.h"
#include "fuzz/survey/agenda.h"

namespace mmadiff {
namespace {

using enum SurveyStage;

constexpr uint64_t kMaxRawCases = 1024;            // per strategy
constexpr double kLineBytes = 250, kAnswers = 16;  // rough size of a line; answers per row
constexpr auto kGrace = absl::Seconds(20);         // for a running task when the time is up

// Raw answers may use max_bytes / kRawShare, lines of answers max_bytes / kLineShare.
constexpr uint64_t kRawShare = 8, kLineShare = 6;
// Size of one of the eight files of a recording, less a margin: a file may end before it is full.
constexpr uint64_t kMaxRawBytes = kMaxRecordingFileBytes - 2'000'000;

// Calls back at intervals, never while a result is being taken.
class ShownAgenda : public SurveyAgenda {
 public:
  ShownAgenda(const SurveyManifest& manifest, absl::Duration total, Console& console,
              absl::Duration every, std::function<void(const SurveyAgenda&)> show)
      : SurveyAgenda(manifest, total, &console), every_(every), show_(std::move(show)) {}

  void ShowProgress(uint64_t answered) override {
    SurveyAgenda::ShowProgress(answered);
    if (MonotonicNow() - shown_ < every_) return;
    show_(*this);
    shown_ = MonotonicNow();
  }

 private:
  const absl::Duration every_;
  const std::function<void(const SurveyAgenda&)> show_;
  absl::Duration shown_ = MonotonicNow();
};

class Survey {
 public:
  Survey(const SurveyOptions& options, const StartProcess& start, Console& console)
      : options_(options),
        console_(console),
        limit_(TimeLimit::After(options.time)),
        child_(new ChildWorker(start, limit_)),
        worker_(child_) {}

  absl::StatusOr<SurveyOutcome> Run() {
    RETURN_IF_ERROR(Open());
    AskAll();
    KeepEnd();
    return std::move(outcome_);
  }

 private:
  absl::Status Open() {
    if (absl::Status s = MakeFolder(options_.folder); !s.ok()) {
      return absl::DataLossError(s.message());
    }
    std::string warning;
    ASSIGN_OR_RETURN(auto lock, FolderLock::Take(options_.folder, warning, options_.shared));
    if (!warning.empty()) outcome_.warnings.push_back(warning);
    lock_ = std::move(lock);
    absl::StatusOr<StoredSurvey> stored = ReadSurvey(options_.folder);
    if (!stored.ok() && !absl::IsNotFound(stored.status())) {
      return absl::AbortedError(stored.status().message());
    }
    ASSIGN_OR_RETURN(const SurveyManifest manifest, Identify());
    outcome_.manifest = manifest;
    RETURN_IF_ERROR(CheckRegressions());
    if (!stored.ok()) return Begin();
    const std::string difference = ManifestDifference(stored->manifest, manifest);
    if (!difference.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat(options_.folder, " contains a different survey (", difference,
                       "); choose another --out, or repeat the command line of that survey"));
    }
    auto log = SurveyLog::Continue(options_.folder, *stored);
    if (!log.ok()) return absl::AbortedError(log.status().message());
    log_ = *std::move(log);
    outcome_.results = std::move(stored->results);
    ends_ = std::move(stored->ends);
    outcome_.manifest.left_out = stored->manifest.left_out;  // as in its pages
    return absl::OkStatus();
  }

  // Reports an unreadable file now, because it would go unnoticed later.
  absl::Status CheckRegressions() const {
    std::vector<const Operation*> ops;
    for (const auto& i : outcome_.manifest.instructions) {
      ops.push_back(FindOperation(i.name, Models::kOptional));
    }
    const auto cases = KnownCases(ops, options_.regressions);
    return cases.ok() ? absl::OkStatus() : absl::AbortedError(cases.status().message());
  }

  void AskAll() {
    ShownAgenda agenda(outcome_.manifest, options_.time, console_, options_.progress_every,
                       [this](const SurveyAgenda& so_far) { Show(so_far); });
    for (const SurveyResult& result : outcome_.results) agenda.Earlier(result);
    SurveyTaskLog log(*log_, options_.max_bytes, outcome_.results);
    child_->SetManifest(outcome_.manifest);
    const DispatchOptions how = {.limit = limit_, .grace = kGrace, .patience = options_.patience};
    DispatchOutcome dispatched = Dispatch(how, {&worker_, 1}, agenda, log, console_);
    outcome_.device = std::move(dispatched.device);
    outcome_.durable = std::move(dispatched.durable);
    const bool said = !outcome_.device.ok() || !outcome_.durable.ok();
    if (!said) outcome_.stopped_by = dispatched.stopped_by;
    outcome_.missing = agenda.Pending();
    outcome_.given_up = agenda.GivenUp();
    outcome_.running = false;
  }

  void Show(const SurveyAgenda& agenda) {
    if (options_.on_progress == nullptr || outcome_.results.size() == shown_) return;
    shown_ = outcome_.results.size();
    outcome_.missing = agenda.Pending();
    outcome_.given_up = agenda.GivenUp();
    outcome_.running = true;
    absl::Status s = log_->Flush();
    if (s.ok()) s = options_.on_progress(outcome_);
    if (!s.ok()) outcome_.warnings.emplace_back(s.message());
  }

  // Stores the facts that the pages show in addition to the results.
  void KeepEnd() {
    const SurveyEnd end = {outcome_.stopped_by, std::string(outcome_.device.message())};
    const StoredSurvey::End* last = ends_.empty() ? nullptr : &ends_.back();
    const bool known =
        last != nullptr && last->end == end && last->results == outcome_.results.size();
    outcome_.durable.Update(known ? log_->Flush() : log_->Append(end));
  }

  absl::Status Begin() {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(options_.folder, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name == "writer.lock" || name.starts_with("answers.log")) continue;
      return absl::FailedPreconditionError(
          absl::StrCat(options_.folder, " is not empty (", name,
                       ") and is not a survey folder; choose another --out"));
    }
    ASSIGN_OR_RETURN(auto log, SurveyLog::Create(options_.folder, outcome_.manifest));
    log_ = std::move(log);
    return absl::OkStatus();
  }

  // The identity of the device, its instructions, and the amount to record for each of them.
  absl::StatusOr<SurveyManifest> Identify() {
    absl::StatusOr<SurveyManifest> identified =
        child_->Identify(options_.device, options_.seed, options_.globs);
    if (absl::IsCancelled(identified.status())) {
      return absl::UnavailableError("stopped before the device was queried");
    }
    if (absl::IsInvalidArgument(identified.status())) return identified.status();
    if (!identified.ok()) return absl::NotFoundError(identified.status().message());
    SurveyManifest manifest = *std::move(identified);
    if (manifest.instructions.empty()) {
      return absl::NotFoundError(
          absl::StrCat("device ", options_.device, " has none of these instructions"));
    }
    Ledger asked = options_.asked;
    for (const auto& i : manifest.instructions) asked.Compare(Thing::kOperation, i.name);
    asked.LeaveRest(Thing::kOperation, Reason::kDeviceLacks);
    manifest.left_out = asked.lines();
    manifest.tool_version = MMADIFF_VERSION;
    manifest.model_version = absl::StrCat(kModelVersion);
    manifest.generator_version = kGeneratorVersion;
    manifest.seed = options_.seed;
    manifest.cases = options_.cases;
    manifest.regressions = options_.regressions;
    manifest.max_bytes = options_.max_bytes;
    const double rows = static_cast<double>(manifest.instructions.size());
    manifest.kept_lines = static_cast<uint64_t>(std::clamp(
        static_cast<double>(options_.max_bytes) / kLineShare / (rows * kAnswers * kLineBytes), 2.,
        64.));
    std::vector<const Operation*> ops;
    for (const auto& i : manifest.instructions)
      ops.push_back(FindOperation(i.name, Models::kOptional));
    const auto planned = PlanRawCases(ops, Name(manifest.device_identity), kMaxRawCases,
                                      std::min(options_.max_bytes / kRawShare, kMaxRawBytes));
    if (!planned.ok()) {
      outcome_.warnings.push_back(
          absl::StrCat("no raw answers are recorded: ", planned.status().message()));
      return manifest;
    }
    for (size_t i = 0; i < ops.size(); ++i) manifest.instructions[i].raw_cases = (*planned)[i];
    return manifest;
  }

  const SurveyOptions& options_;
  Console& console_;
  const TimeLimit limit_;
  ChildWorker* const child_;
  const std::unique_ptr<Worker> worker_;
  std::unique_ptr<FolderLock> lock_;
  std::unique_ptr<SurveyLog> log_;
  SurveyOutcome outcome_;
  std::vector<StoredSurvey::End> ends_;  // from earlier attempts
  size_t shown_ = 0;                     // results at the last callback
};

}  // namespace

absl::StatusOr<SurveyOutcome> RunSurvey(const SurveyOptions& options, const StartProcess& start,
                                        Console& console) {
  return Survey(options, start, console).Run();
}

}  // namespace mmadiff
