#include "fuzz/replay/replay.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/case_folder.h"
#include "corpus/cases/case_name.h"
#include "corpus/hex.h"
#include "corpus/path_kind.h"
#include "corpus/recordings/line_recording.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/recordings/survey_answers.h"
#include "corpus/regression_case.h"
#include "corpus/stored_files.h"
#include "corpus/vector_folder.h"
#include "device/status_macros.h"
#include "fuzz/engine/recompute.h"
#include "fuzz/folder/finding_life.h"
#include "fuzz/folder/findings.h"
#include "fuzz/output/progress.h"
#include "fuzz/replay/replay_answers.h"
#include "fuzz/replay/replay_vectors.h"
#include "fuzz/survey/summary.h"
#include "fuzz/survey/verify.h"
#include "fuzz/verdict/error_meaning.h"

namespace mmadiff {
namespace {

// One replay and its results.
class Replay {
 public:
  Replay(const ReplayOptions& options, ReplayDevice* device, OnReport report, Console& console)
      : options_(options),
        device_(device),
        console_(console),
        state_{options, device, console.style(), report, {report, options.max_reports}} {
    if (options.instr.empty()) return;
    const auto ops = MatchOperations(options.instr, Models::kOptional);
    selected_.insert(ops.begin(), ops.end());
  }

  absl::Status Subject(const std::string& argument) {
    if (LooksLikeCaseName(argument)) return CaseName(argument);
    const PathKind kind = KindOf(argument);
    if (kind == PathKind::kNothing) {
      return absl::InvalidArgumentError(
          absl::StrCat(argument, ": no such file, folder or case name"));
    }
    if (IsFolder(kind)) return FolderOfFiles(argument);
    if (kind == PathKind::kOther) return Recorded(argument);
    ledger().Ask(Thing::kFile, argument, true);
    return File({argument, KindOfFile(argument)}, argument);
  }

  absl::StatusOr<ReplayOutcome> Finish() {
    if (!anything_selected_ && !not_selected_.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("no data matches ", options_.instr,
                                                     "; the instructions found are ",
                                                     absl::StrJoin(not_selected_, ", ")));
    }
    const Reason lack = device_ == nullptr ? Reason::kDeviceLacks : ReasonOf(device_->lack());
    state_.Leave(Thing::kCase, lack, outcome_.unsupported);
    state_.Leave(Thing::kUnit, lack, outcome_.unsupported_units);
    state_.Leave(Thing::kUnit, Reason::kDoesNotRepeat, outcome_.flaky_units);
    state_.Compared(Thing::kUnit, outcome_.units);
    state_.Leave(Thing::kUnit, Reason::kNotSampled, not_sampled_);
    std::ranges::move(state_.vector_results, std::back_inserter(outcome_.test_results));
    if (device_ != nullptr) {
      outcome_.dropped = device_->dropped();
      outcome_.flaky += device_->flaky();
    }
    return std::move(outcome_);
  }

 private:
  Ledger& ledger() { return outcome_.ledger; }

  // Whether the operation is selected. If not, `count` things are left out.
  bool Selected(const Operation& op, Thing thing = Thing::kCase, uint64_t count = 1) {
    const bool selected = options_.instr.empty() || selected_.contains(&op);
    anything_selected_ |= selected;
    file_selected_ |= selected;
    if (selected) return true;
    state_.Leave(thing, Reason::kNotSelected, count);
    not_selected_.insert(op.name);
    return false;
  }

  // Replays everything below the folder.
  absl::Status FolderOfFiles(const std::string& path) {
    StoredFolders folders;
    ASSIGN_OR_RETURN(auto below, StoredFilesBelow(path, folders));
    const std::vector<StoredFile> files = ledger().Keep(std::move(below));
    outcome_.recordings |= !folders.surveys.empty() || !folders.recordings.empty();
    absl::Status s;
    for (const std::string& folder : folders.surveys) s.Update(Survey(folder));
    for (const std::string& folder : folders.recordings) s.Update(Folder(folder));
    for (const StoredFile& file : files) s.Update(File(file, path));
    return s;
  }

  // `subject`: the argument, which names the file or a folder that contains it.
  absl::Status File(const StoredFile& file, const std::string& subject) {
    const bool in_folder = file.path != subject,
               was_damaged = std::exchange(outcome_.damaged, false);
    outcome_.recordings |=
        in_folder && (file.kind == FileKind::kLines || file.kind == FileKind::kLog);
    file_selected_ = options_.instr.empty() || (in_folder && file.kind == FileKind::kOfRecording);
    absl::Status s;
    switch (file.kind) {
      case FileKind::kCase:
        s = FiledCase(file.path, in_folder);
        break;
      case FileKind::kVectors:
        s = Vectors(file.path);
        break;
      case FileKind::kOfRecording:  // already read with its folder
        s = in_folder ? s : Recorded(file.path);
        break;
      default:  // the reader reports what it expects
        s = absl::EndsWith(file.path, ".txt") && file.kind == FileKind::kNotUnderstood
                ? Vectors(file.path)
                : Recorded(file.path, in_folder);
    }
    if (outcome_.damaged) ledger().Leave({Thing::kFile, Reason::kDamaged, file.path});
    const bool not_understood = std::exchange(not_understood_, false);
    if (not_understood) ledger().Leave({Thing::kFile, Reason::kNotUnderstood, file.path});
    if (!file_selected_) ledger().Leave({Thing::kFile, Reason::kNotSelected, file.path});
    if (s.ok() && !outcome_.damaged && !not_understood && file_selected_)
      ledger().Compare(Thing::kFile, file.path);
    outcome_.damaged |= was_damaged;
    return s;
  }

  absl::Status CaseName(const std::string& argument) {
    ASSIGN_OR_RETURN(const ::mmadiff::CaseName name, ParseCaseName(argument));
    if (!Selected(*name.stream.op)) return absl::OkStatus();
    Batch inputs;
    Generate(name.stream, name.index, 1, inputs);
    return CompareAnswersNow(*name.stream.op, inputs, {argument}, state_).status();
  }

  // Replays the log. The recording and the pages of the survey are only copies.
  absl::Status Survey(const std::string& folder) {
    const absl::StatusOr<StoredSurvey> stored = ReadSurvey(folder);
    if (!stored.ok()) {
      Damaged(stored.status().message());
      const std::string recording = folder + "/recording";
      return IsRecordingFolder(recording) ? Folder(recording) : absl::OkStatus();
    }
    const SurveyCheck check = CheckSurvey(folder, *stored);
    for (const std::string& wrong : check.wrong) Damaged(wrong);
    for (const std::string& stale : check.stale) console_.Warn(stale);
    if (!stored->damaged && !stored->stats.damage.empty()) {
      console_.Warn(absl::StrCat(SurveyLogPath(folder), ": cut off while it was written"));
    }
    Verdict(folder, *stored);
    for (const auto& [op, variant] : UnrepeatedRows(stored->results)) {
      LeaveRow(folder, op + variant, Reason::kDoesNotRepeat, "its answers did not repeat");
    }
    absl::Status s =
        DeliverSurvey(folder, *stored, [this](const Recording& r) { return Stored(r); });
    RETURN_IF_ERROR(s);
    Recomputation units;
    const absl::Status added = DeliverSurveyDigests(*stored, [&](const RecordedDigests& digests) {
      return units.Add(digests, SurveyLogPath(folder));
    });
    // Units that were read before an error are compared, too.
    s = units.Run(Recomputed(), [this](const RecomputedUnit& unit) { return AddUnit(unit); });
    return s.ok() ? added : s;
  }

  // Reports the survey's own results, because it stores no answers of its runs to compare again.
  void Verdict(const std::string& folder, const StoredSurvey& stored) {
    SurveyOutcome outcome;
    outcome.manifest = stored.manifest;
    for (const SurveyResult& result : stored.results) {
      if (options_.instr.empty() ||
          selected_.contains(FindOperation(result.task.op, Models::kOptional))) {
        outcome.results.push_back(result);
      }
    }
    const SurveySummary summary = Summarize(outcome);
    // Contradictions refer to the model at that time. With a device, only its current answers
    // count.
    const bool same = IsOfThisVersion(stored.manifest);
    if (same && device_ == nullptr) outcome_.contradictions += summary.changed;
    if (device_ == nullptr) outcome_.troubled += summary.troubled;
    std::string before;
    for (size_t i = same ? 0 : summary.changed; i < summary.contradictions.size(); ++i) {
      const std::string text = absl::StrCat("SURVEY ", summary.contradictions[i].Text(), "\n");
      if (std::exchange(before, text) == text) continue;
      state_.report(
          {Wrap(text, console_.style().width, 2),
           {.kind = "survey", .where = folder, .said = summary.contradictions[i].Text()}});
      if (options_.test_results && device_ == nullptr) {
        outcome_.test_results.push_back({"survey", text});
      }
    }
  }

  // Leaves out a row of a folder whose answers are not evidence.
  void LeaveRow(const std::string& folder, const std::string& name, Reason reason,
                const char* why) {
    console_.Warn(absl::StrCat(folder, ": ", name, ": ", why, "; not used"));
    ledger().Ask(Thing::kOperation, name);
    ledger().Leave({Thing::kOperation, reason, name, why});
  }

  void Damaged(absl::string_view what) {
    console_.Warn(what);
    outcome_.damaged = true;
  }

  absl::Status FiledCase(const std::string& path, bool in_folder) {
    const absl::StatusOr<RegressionCase> c = ReadCase(path);
    if (!c.ok()) {
      if (!in_folder) return c.status();
      Damaged(c.status().message());
      return absl::OkStatus();
    }
    if (!Selected(*c->op)) return absl::OkStatus();
    outcome_.filed_flaky += c->bucket.repetition == Repetition::kFlaky;
    ASSIGN_OR_RETURN(const auto said, CompareCase(*c, path, in_folder, state_));
    if (said.has_value() && IsFinding(*c)) Move(path, *c, *said);
    return absl::OkStatus();
  }

  void Move(const std::string& file, RegressionCase c, Replayed said) {
    const std::string device = device_ == nullptr ? "" : device_->device().name();
    const FindingState from = StateOf(c);
    const bool explain = !options_.why.empty() && said == Replayed::kDiffers;
    const FindingState to = explain ? FindingState::kExplained : NextState(c, said, device);
    if (from == to && !explain) return;
    outcome_.moves.push_back({file, c.op->name, Name(c.bucket), from, to});
    if (!options_.update) return;
    c.state = to;
    c.moved_by = device.empty() ? MovedBy::ThisModel() : MovedBy::Device(device);
    if (explain) absl::StrAppend(&c.why, c.why.empty() ? "" : "; ", options_.why);
    outcome_.durable.Update(RewriteCase(file, c));
  }

  absl::Status Vectors(const std::string& path) {
    const absl::StatusOr<VectorFile> file = ReadVectors(path);
    if (!file.ok()) {
      Damaged(file.status().message());
      return absl::OkStatus();
    }
    for (const Vector& v : file->vectors) {
      const auto wanted = [this](const Operation& op) { return Selected(op); };
      RETURN_IF_ERROR(CompareVector(v, wanted, state_));
    }
    return absl::OkStatus();
  }

  // Replays everything in a recording folder.
  absl::Status Folder(const std::string& path) {
    RecordingStats stats;
    absl::Status s = ReadRecordingFolder(
        path, [this](const Recording& r) { return Stored(r); }, stats);
    RETURN_IF_ERROR(s);
    const auto damage = VerifyDigests(path, Recomputed(),
                                      [this](const RecomputedUnit& unit) { return AddUnit(unit); });
    RETURN_IF_ERROR(damage.status());
    if (const auto manifest = ReadRecordingManifest(path); manifest.ok()) {
      for (const auto& i : manifest->instructions) outcome_.recorded_twice += i.repeated;
    }
    outcome_.recorded += stats.dot_products;
    for (const std::string& name : stats.dropped) {
      LeaveRow(path, name, Reason::kDropped, "the device failed before everything was recorded");
    }
    console_.Clear();
    stats.damage.insert(stats.damage.end(), damage->begin(), damage->end());
    Report(path, stats.damage);
    return absl::OkStatus();
  }

  absl::Status Stored(const Recording& recording, bool in_folder = true) {
    if (!Selected(*recording.op)) return absl::OkStatus();
    return CompareRecording(recording, in_folder, state_);
  }

  // The work to do for each unit of digests, in any thread.
  RecomputeOptions Recomputed() {
    RecomputeOptions options = {
        .every = options_.every, .threads = options_.threads, .not_sampled = &not_sampled_};
    options.passes_over = [this](const RecordedDigests& d) {
      return !Selected(*d.op, Thing::kUnit, d.digests.size());
    };
    if (device_ == nullptr) return options;
    options.also = [this](RecomputedUnit& unit, int thread) {
      unit.answers = device_->AskDigest(unit, thread);
    };
    return options;
  }

  absl::Status AddUnit(const RecomputedUnit& unit) {
    absl::Status s = CompareUnit(unit, state_);
    if (unit.model.has_value()) {
      console_.Status(absl::StrCat("digests compared: ", CountText(outcome_.units, "unit")), false);
    }
    return s;
  }

  absl::Status Recorded(const std::string& path, bool in_folder = false) {
    absl::Status delivered;  // if OK, another error means that the file is wrong
    const auto deliver = [&](const Recording& r) { return delivered = Stored(r, in_folder); };
    const absl::StatusOr<RecordingStats> stats = ReadRecordings(path, options_.instr, deliver);
    const bool wrong = in_folder && !stats.ok() && delivered.ok();
    // Lines without the name of an instruction are not damaged, but cannot be used.
    not_understood_ = wrong && absl::IsInvalidArgument(stats.status());
    if (not_understood_) {
      console_.Warn(stats.status().message());
      return absl::OkStatus();
    }
    if (wrong || absl::IsDataLoss(stats.status())) {  // data before the damage was compared
      Damaged(stats.status().message());
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(stats.status());
    Report(path, stats->damage);
    return absl::OkStatus();
  }

  void Report(const std::string& path, const std::vector<Damage>& damage) {
    for (const Damage& d : damage) Damaged(absl::StrCat(path, ": ", Text(d)));
  }

  const ReplayOptions& options_;
  ReplayDevice* device_;  // nullptr: stored answers are compared
  Console& console_;
  ReplayState state_;
  ReplayOutcome& outcome_ = state_.outcome;
  uint64_t not_sampled_ = 0;                                // units of digests
  std::set<const Operation*> selected_;                     // by options_.instr
  bool anything_selected_ = false, file_selected_ = false;  // overall; in the current file
  std::set<std::string> not_selected_;                      // other instructions found
  bool not_understood_ = false;                             // the current file
};

}  // namespace

absl::StatusOr<ReplayOutcome> ReplaySubjects(const ReplayOptions& options, Engine* engine,
                                             OnReport report, Console& console) {
  if (!options.instr.empty() && MatchOperations(options.instr, Models::kOptional).empty()) {
    return absl::InvalidArgumentError(WhyNoOperation(options.instr));
  }
  std::optional<ReplayDevice> asked;
  if (engine != nullptr) asked.emplace(*engine, options.threads, options.open, console);
  Replay replay(options, asked.has_value() ? &*asked : nullptr, report, console);
  for (const std::string& subject : options.subjects) {
    RETURN_IF_ERROR(replay.Subject(subject));
  }
  return replay.Finish();
}

}  // namespace mmadiff
