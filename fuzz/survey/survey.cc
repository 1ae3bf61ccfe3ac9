#include "fuzz/survey/survey.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/survey_log.h"
#include "device/stop.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/known_cases.h"
#include "fuzz/recorder.h"
#include "fuzz/survey/schedule.h"
#include "fuzz/survey/trap.h"
#include "fuzz/workdir.h"

namespace mmadiff {
namespace {

using enum SurveyStage;

constexpr int kOpenTries = 3;                      // of a device that does not open any more
constexpr uint64_t kMostRawCases = 1024;           // of each strategy
constexpr double kLineBytes = 250, kAnswers = 16;  // of a line; of a row: about
constexpr auto kGrace = absl::Seconds(20);         // of a task that has begun when the time is up

// Shares of max_bytes: raw answers, lines of answers, the log.
constexpr uint64_t kRawShare = 8, kLineShare = 6, kLogShare = 2;
// One file of the recording, which may be left a little before it is full: of the folder's eight.
constexpr uint64_t kMostRawBytes = kMaxRecordingFileBytes - 2'000'000;

class Survey {
 public:
  Survey(const SurveyOptions& options, const AskProcess& ask, Console& console)
      : options_(options), ask_(ask), console_(console), limit_(TimeLimit::After(options.time)) {}

  absl::StatusOr<SurveyOutcome> Run() {
    if (absl::Status s = Open(); !s.ok()) return s;
    schedule_.emplace(outcome_.manifest);
    for (const SurveyResult& result : outcome_.results) schedule_->Done(result);
    AskAll();
    KeepEnd();
    console_.Clear();
    outcome_.missing = schedule_->Pending();
    outcome_.given_up = schedule_->GivenUp();
    return std::move(outcome_);
  }

 private:
  absl::Status Open() {
    if (absl::Status s = MakeFolder(options_.folder); !s.ok()) {
      return absl::DataLossError(s.message());
    }
    std::string warning;
    auto lock = FolderLock::Take(options_.folder, warning);
    if (!lock.ok()) return lock.status();
    if (!warning.empty()) outcome_.warnings.push_back(warning);
    lock_ = *std::move(lock);
    absl::StatusOr<StoredSurvey> stored = ReadSurvey(options_.folder);
    if (!stored.ok() && !absl::IsNotFound(stored.status())) {
      return absl::AbortedError(stored.status().message());
    }
    const absl::StatusOr<SurveyManifest> manifest = Identify();
    if (!manifest.ok()) return manifest.status();
    outcome_.manifest = *manifest;
    if (absl::Status s = CheckRegressions(); !s.ok()) return s;
    if (!stored.ok()) return Begin();
    const std::string difference = ManifestDifference(stored->manifest, *manifest);
    if (!difference.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat(options_.folder, " holds another survey (", difference,
                       "); give this one its own --out, or repeat that command line"));
    }
    auto log = SurveyLog::Continue(options_.folder, *stored);
    if (!log.ok()) return absl::AbortedError(log.status().message());
    log_ = *std::move(log);
    outcome_.results = std::move(stored->results);
    ends_ = std::move(stored->ends);
    return absl::OkStatus();
  }

  // Later nobody would notice that a file cannot be read.
  absl::Status CheckRegressions() const {
    std::vector<const Operation*> ops;
    for (const auto& i : outcome_.manifest.instructions) {
      ops.push_back(FindOperation(i.name, Models::kOptional));
    }
    const auto cases = KnownCases(ops, options_.regressions);
    return cases.ok() ? absl::OkStatus() : absl::AbortedError(cases.status().message());
  }

  // What the pages say beside the results.
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
      return absl::FailedPreconditionError(absl::StrCat(options_.folder, " holds no survey but ",
                                                        name, "; give the survey its own --out"));
    }
    auto log = SurveyLog::Create(options_.folder, outcome_.manifest);
    if (!log.ok()) return log.status();
    log_ = *std::move(log);
    return absl::OkStatus();
  }

  // Who the device is, what it has, and how much of each is recorded.
  absl::StatusOr<SurveyManifest> Identify() {
    SurveyJob job;
    job.manifest.device = options_.device;
    job.manifest.seed = options_.seed;
    job.identify = options_.globs;
    if (absl::Status s = AskOnce(job); !s.ok()) {
      if (usage_) return absl::InvalidArgumentError(failed_);
      return absl::IsCancelled(s) ? absl::UnavailableError("stopped before the device was asked")
                                  : absl::NotFoundError(failed_.empty() ? s.message() : failed_);
    }
    SurveyManifest manifest = std::move(identity_);
    if (manifest.instructions.empty()) {
      return absl::NotFoundError(
          absl::StrCat("device ", options_.device, " has none of these instructions"));
    }
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
    const auto planned = PlanRawCases(ops, Name(manifest.device_identity), kMostRawCases,
                                      std::min(options_.max_bytes / kRawShare, kMostRawBytes));
    if (!planned.ok()) {
      outcome_.warnings.push_back(
          absl::StrCat("nothing is recorded raw: ", planned.status().message()));
      return manifest;
    }
    for (size_t i = 0; i < ops.size(); ++i) manifest.instructions[i].raw_cases = (*planned)[i];
    return manifest;
  }

  void AskAll() {
    int failures = 0;
    std::optional<SurveyTask> asked;  // when the device was lost
    while (!Stopped()) {
      const size_t before = outcome_.results.size();
      const absl::Status s = AskOnce(Job());
      if (s.ok() || absl::IsCancelled(s) || Stopped()) break;
      if (outcome_.results.size() > before) failures = 0, asked.reset();
      if (begun_.has_value()) {
        const SurveyTask task = *begun_;
        console_.Warn(absl::StrCat(task.Text(), ": ", Why(s), "; asked again alone"));
        if (AskAgain(task)) continue;
        asked = task;
      } else if (absl::IsDeadlineExceeded(s)) {
        console_.Warn(
            absl::StrCat("the process that asks the device: ", Why(s), "; a new one goes on"));
      }
      if (++failures == kOpenTries) {
        outcome_.device = absl::UnavailableError(absl::StrCat("the device is gone: ", Why(s)));
        if (asked
                .has_value()) {  // which row it was asked last: if it happens again, it is the row's
          SurveyResult gone;
          gone.task = {kTrap, asked->op, asked->variant, 0, kDeviceGone};
          gone.status = absl::UnavailableError(Why(s));
          [[maybe_unused]] const absl::Status kept = Keep(std::move(gone));
        }
        break;
      }
      std::this_thread::sleep_for(absl::ToChronoMilliseconds(failures * options_.patience));
    }
    outcome_.stopped_by = StopNow(limit_);
    if (!outcome_.stopped_by && IsFull()) outcome_.stopped_by = {StopCause::kFolderFull};
  }

  bool IsFull() const { return log_->bytes() > options_.max_bytes / kLogShare; }
  bool Stopped() const { return !outcome_.durable.ok() || IsFull() || StopNow(limit_); }

  // What a task died of is asked once more, questions one by one. False if the device cannot be
  // asked at all.
  bool AskAgain(const SurveyTask& task) {
    const bool whole = task.stage == kQuestions && task.detail.empty();
    std::vector<SurveyTask> tasks = whole ? SingleQuestions(task) : std::vector{task};
    again_ = true;
    bool can = true;
    for (size_t next = 0;
         next < tasks.size() && can && !Stopped() && !schedule_->IsExcluded(task);) {
      const std::vector<SurveyTask> rest(tasks.begin() + static_cast<std::ptrdiff_t>(next),
                                         tasks.end());
      absl::Status s = AskOnce(Job(rest));
      if (s.ok() || absl::IsCancelled(s) || Stopped()) break;
      can = begun_.has_value();
      if (!can) break;
      next = std::find(tasks.begin(), tasks.end(), *begun_) - tasks.begin();
      const SurveyTask died = *begun_;
      if (whole) s = AskOnce(Job({died}));  // for the second time
      can = s.ok() || begun_.has_value();
      if (can && !s.ok() && !absl::IsCancelled(s)) Trapped(died, s);
      ++next;
    }
    again_ = false;
    if (whole && can && !Stopped()) {
      SurveyResult done;
      done.task = task;
      done.died_once = true;
      [[maybe_unused]] const absl::Status kept = Keep(std::move(done));
    }
    return can;
  }

  void Trapped(const SurveyTask& task, const absl::Status& s) {
    SurveyResult result;
    result.task = task;
    result.trapped = true;
    const std::string why = Why(s);
    result.status = absl::Status(s.code(), why);
    const auto survives = [this](const SurveyTask& trial) {
      const absl::Status tried = AskOnce(Job({trial}));
      return tried.ok() || absl::IsCancelled(tried) || !begun_.has_value();
    };
    const TrappedInput input = {task, options_.seed, schedule_->UnitOf(task), asked_,
                                absl::IsDeadlineExceeded(s)};
    result.trap = SmallestTrap(input, survives);
    console_.Warn(
        absl::StrCat(task.Text(), ": ", why, " again; traps on ", result.trap.substr(0, 200)));
    [[maybe_unused]] const absl::Status kept = Keep(std::move(result));
  }

  SurveyJob Job(std::vector<SurveyTask> tasks = {}) const {
    SurveyJob job;
    job.manifest = outcome_.manifest;
    job.tasks = std::move(tasks);
    for (const SurveyResult& result : outcome_.results) job.done.push_back(Outline(result));
    if (options_.time < absl::InfiniteDuration()) {
      job.total = absl::ToDoubleSeconds(options_.time);
      job.left = absl::ToDoubleSeconds(limit_.Left());
    }
    return job;
  }

  absl::Status AskOnce(const SurveyJob& job) {
    begun_.reset();
    asked_.clear();
    failed_.clear();
    usage_ = hangs_ = false;
    const auto stop = [this] { return StopSignal() != 0 || limit_.Left() < -kGrace; };
    const auto take = [this](const SurveyMessage& m) { return Take(m); };
    const absl::Status s = ask_(job, take, stop);
    return hangs_ && !s.ok() ? absl::DeadlineExceededError(failed_) : s;
  }

  absl::Status Take(const SurveyMessage& message) {
    switch (message.kind) {
      case SurveyMessage::kIdentity:
        identity_ = message.identity;
        break;
      case SurveyMessage::kBegun:
        begun_ = message.begun;
        asked_.clear();
        console_.Status(absl::StrCat(begun_->Text(), ", ", outcome_.results.size(), " done"),
                        false);
        break;
      case SurveyMessage::kAsked:
        asked_ = message.asked;
        break;
      case SurveyMessage::kFailed:
        failed_ = message.failed;
        usage_ = message.usage;
        hangs_ = message.hangs;
        break;
      case SurveyMessage::kAlive:
        break;
      case SurveyMessage::kResult:
        // What follows an unfinished task is the rest of it, until the next one begins.
        if (!message.result.unfinished) begun_.reset();
        if (begun_.has_value()) begun_->number += HasParts(begun_->stage);
        if (message.result.task.stage == kTrap) break;
        SurveyResult result = message.result;
        result.died_once = again_ && (!result.unfinished || HasParts(result.task.stage));
        return Keep(std::move(result));
    }
    return absl::OkStatus();
  }

  // Not OK, so that the process that asks is ended, when nothing more can be kept.
  absl::Status Keep(SurveyResult result) {
    const absl::Status s = log_->Append(result);
    outcome_.durable.Update(s);
    schedule_->Done(result);
    outcome_.results.push_back(std::move(result));
    if (s.ok() && IsFull()) return absl::ResourceExhaustedError("the folder is full");
    return s;
  }

  std::string Why(const absl::Status& s) const {
    return failed_.empty() ? std::string(s.message()) : failed_;
  }

  const SurveyOptions& options_;
  const AskProcess& ask_;
  Console& console_;
  const TimeLimit limit_;
  std::unique_ptr<FolderLock> lock_;
  std::unique_ptr<SurveyLog> log_;
  std::optional<SurveySchedule> schedule_;
  SurveyOutcome outcome_;
  std::vector<StoredSurvey::End> ends_;  // of earlier attempts

  // Of the process that asks now.
  SurveyManifest identity_;
  std::optional<SurveyTask> begun_;  // and has no result yet
  std::vector<std::string> asked_;   // last
  std::string failed_;
  bool usage_ = false, hangs_ = false;
  bool again_ = false;  // after it died in a task
};

}  // namespace

absl::StatusOr<SurveyOutcome> RunSurvey(const SurveyOptions& options, const AskProcess& ask,
                                        Console& console) {
  return Survey(options, ask, console).Run();
}

}  // namespace mmadiff
