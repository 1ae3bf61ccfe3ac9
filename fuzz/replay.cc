#include "fuzz/replay.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/case_folder.h"
#include "corpus/hex.h"
#include "corpus/path_kind.h"
#include "corpus/recordings/line_recording.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/recordings/survey_answers.h"
#include "corpus/regression_case.h"
#include "corpus/stored_files.h"
#include "corpus/vector_folder.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "fuzz/asked_device.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/finding_life.h"
#include "fuzz/findings.h"
#include "fuzz/output/error_meaning.h"
#include "fuzz/progress.h"
#include "fuzz/record/recompute.h"
#include "fuzz/replay_unmodelled.h"
#include "fuzz/replay_vectors.h"
#include "fuzz/survey/summary.h"
#include "fuzz/survey/verify.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// Everything that one replay compares, and what it found.
class Replay {
 public:
  Replay(const ReplayOptions& options, AskedDevice* device, const OnReport& report,
         Console& console)
      : options_(options),
        device_(device),
        report_(report),
        console_(console),
        mismatches_(report, options.max_reports),
        vectors_([this](const Operation& op) { return Selected(op, other_cases_); }, device,
                 options.verbose, console.style(), report, mismatches_),
        unmodelled_(device, options.test_results, console.style(), mismatches_, outcome_) {
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
      return absl::InvalidArgumentError(absl::StrCat("nothing of ", options_.instr,
                                                     " is there; there is ",
                                                     absl::StrJoin(not_selected_, ", ")));
    }
    outcome_.compared += vectors_.compared();
    outcome_.differing += vectors_.differing();
    outcome_.unsupported += vectors_.unsupported();
    cases_ += vectors_.compared();
    const Reason lack = device_ == nullptr ? Reason::kDeviceLacks : ReasonOf(device_->lack());
    flaky_cases_ += vectors_.flaky();
    ledger().Count(Thing::kCase,
                   cases_ + flaky_cases_ + dropped_cases_ + outcome_.unsupported + other_cases_,
                   cases_);
    ledger().LeaveMany(Thing::kCase, Reason::kDropped, dropped_cases_);
    ledger().LeaveMany(Thing::kCase, Reason::kNotSelected, other_cases_);
    ledger().LeaveMany(Thing::kCase, Reason::kDoesNotRepeat, flaky_cases_);
    ledger().LeaveMany(Thing::kCase, lack, outcome_.unsupported);
    ledger().Count(Thing::kUnit,
                   outcome_.units + outcome_.flaky_units + dropped_units_ +
                       outcome_.unsupported_units + not_sampled_ + other_units_,
                   outcome_.units);
    ledger().LeaveMany(Thing::kUnit, Reason::kDropped, dropped_units_);
    ledger().LeaveMany(Thing::kUnit, Reason::kDoesNotRepeat, outcome_.flaky_units);
    ledger().LeaveMany(Thing::kUnit, lack, outcome_.unsupported_units);
    ledger().LeaveMany(Thing::kUnit, Reason::kNotSampled, not_sampled_);
    ledger().LeaveMany(Thing::kUnit, Reason::kNotSelected, other_units_);
    std::ranges::copy(vectors_.by_kind(), outcome_.vectors);
    if (options_.test_results)
      std::ranges::copy(vectors_.test_results(), std::back_inserter(outcome_.test_results));
    if (device_ != nullptr) {
      outcome_.dropped = device_->dropped();
      outcome_.flaky += device_->flaky();
    }
    return std::move(outcome_);
  }

 private:
  Ledger& ledger() { return outcome_.ledger; }

  // Else `count` grows by `n`.
  bool Selected(const Operation& op, uint64_t& count, uint64_t n = 1) {
    const bool selected = options_.instr.empty() || selected_.contains(&op);
    anything_selected_ |= selected;
    file_selected_ |= selected;
    if (selected) return true;
    count += n;
    not_selected_.insert(op.name);
    return false;
  }

  // All that is below it.
  absl::Status FolderOfFiles(const std::string& path) {
    StoredFolders folders;
    auto below = StoredFilesBelow(path, folders);
    if (!below.ok()) return below.status();
    const std::vector<StoredFile> files = ledger().Keep(*std::move(below));
    outcome_.recordings |= !folders.surveys.empty() || !folders.recordings.empty();
    absl::Status s;
    for (const std::string& folder : folders.surveys) s.Update(Survey(folder));
    for (const std::string& folder : folders.recordings) s.Update(Folder(folder));
    for (const StoredFile& file : files) s.Update(File(file, path));
    return s;
  }

  // `subject`: the argument that names it, or a folder of it.
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
      case FileKind::kOfRecording:  // it was read with its folder
        s = in_folder ? s : Recorded(file.path);
        break;
      default:  // its reader says what it expects
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
    const absl::StatusOr<::mmadiff::CaseName> name = ParseCaseName(argument);
    if (!name.ok()) return name.status();
    if (!Selected(*name->stream.op, other_cases_)) return absl::OkStatus();
    Batch inputs;
    Generate(name->stream, name->index, 1, inputs);
    return Live(*name->stream.op, inputs, {argument});
  }

  // The log is what counts. Its recording and its pages are copies for others.
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
    if (!s.ok()) return s;
    Recomputation units;
    const absl::Status added = DeliverSurveyDigests(*stored, [&](const RecordedDigests& digests) {
      return units.Add(digests, SurveyLogPath(folder));
    });
    // Also what came before an error.
    s = units.Run(Recomputed(), [this](const RecomputedUnit& unit) { return AddUnit(unit); });
    return s.ok() ? added : s;
  }

  // What the survey itself said of its rows: of a run there are no answers to compare again.
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
    // Of the model of that time; a device that is asked now decides alone.
    const bool same = IsOfThisVersion(stored.manifest);
    if (same && device_ == nullptr) outcome_.contradictions += summary.changed;
    if (device_ == nullptr) outcome_.troubled += summary.troubled;
    std::string before;
    for (size_t i = same ? 0 : summary.changed; i < summary.contradictions.size(); ++i) {
      const std::string text = absl::StrCat("SURVEY ", summary.contradictions[i].Text(), "\n");
      if (std::exchange(before, text) == text) continue;
      report_(
          {Wrap(text, console_.style().width, 2),
           {{"kind", "survey"}, {"where", folder}, {"said", summary.contradictions[i].Text()}}});
      if (options_.test_results && device_ == nullptr) {
        outcome_.test_results.push_back({"survey", text});
      }
    }
  }

  // What a folder has of it is no evidence.
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
    if (!Selected(*c->op, other_cases_)) return absl::OkStatus();
    outcome_.filed_flaky += c->bucket.repetition == Repetition::kFlaky;
    said_.reset();
    if (absl::Status s = Case(*c, path, in_folder); !s.ok()) return s;
    if (said_.has_value() && IsFinding(*c)) Move(path, *c, *said_);
    return absl::OkStatus();
  }

  absl::Status Case(const RegressionCase& c, const std::string& file, bool in_folder) {
    if (device_ != nullptr) {
      if (!in_folder || !device_->Lacks(*c.op)) return Live(c, file);
      ++outcome_.unsupported;
      return absl::OkStatus();
    }
    if (c.no_word) {
      Answers said;
      said.Fail(c.no_word->failure);
      Add(*c.op, c.inputs, AnswersTo(*c.op, c.inputs, std::move(said)), {file}, c.no_word->device);
    }
    for (const Answer& answer : c.answers) {
      // A prediction of the model that a device refutes is no expectation any more.
      if (answer.IsPrediction() && (c.no_word || c.answers.size() > 1)) continue;
      Compare(*c.op, c.inputs, answer.d, {file}, answer.device);
    }
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
      console_.Warn(file.status().message());
      outcome_.damaged = true;
      return absl::OkStatus();
    }
    for (const Vector& v : file->vectors) {
      if (absl::Status s = vectors_.Compare(v); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  // Everything that a folder of recordings has.
  absl::Status Folder(const std::string& path) {
    RecordingStats stats;
    absl::Status s = ReadRecordingFolder(
        path, [this](const Recording& r) { return Stored(r); }, stats);
    if (!s.ok()) return s;
    const auto damage = VerifyDigests(path, Recomputed(),
                                      [this](const RecomputedUnit& unit) { return AddUnit(unit); });
    if (!damage.ok()) return damage.status();
    if (const auto manifest = ReadRecordingManifest(path); manifest.ok()) {
      for (const auto& i : manifest->instructions) outcome_.recorded_twice += i.repeated;
    }
    outcome_.recorded += stats.dot_products;
    for (const std::string& name : stats.dropped) {
      LeaveRow(path, name, Reason::kDropped, "the device failed before all was recorded");
    }
    console_.Clear();
    stats.damage.insert(stats.damage.end(), damage->begin(), damage->end());
    Report(path, stats.damage);
    return absl::OkStatus();
  }

  // In a folder, instructions that the device lacks are counted and left out.
  absl::Status Stored(const Recording& recording, bool in_folder = true) {
    if (!Selected(*recording.op, other_cases_)) return absl::OkStatus();
    if (!IsModelled(*recording.op)) return unmodelled_.Compare(recording);
    const absl::StatusOr<Batch> inputs = InputsOf(recording);
    if (!inputs.ok()) return inputs.status();
    if (device_ == nullptr) {
      Compare(*recording.op, *inputs, recording.d, recording.where, recording.identity);
    } else if (!in_folder || !device_->Lacks(*recording.op)) {
      return Live(*recording.op, *inputs, recording.where);
    } else {
      ++outcome_.unsupported;
    }
    return absl::OkStatus();
  }

  // What is done of each unit of digests in any thread.
  RecomputeOptions Recomputed() {
    RecomputeOptions options = {
        .every = options_.every, .threads = options_.threads, .not_sampled = &not_sampled_};
    options.passes_over = [this](const RecordedDigests& d) {
      return !Selected(*d.op, other_units_, d.digests.size());
    };
    if (device_ == nullptr) return options;
    options.also = [this](RecomputedUnit& unit, int thread) {
      unit.answers = device_->AskDigest(unit, thread);
    };
    return options;
  }

  absl::Status AddUnit(const RecomputedUnit& unit) {
    if (!unit.model.has_value()) return unmodelled_.Compare(unit);
    absl::Status s;
    if (device_ == nullptr) {
      CompareUnit(unit, unit.recorded, unit.identity);
    } else if (device_->Lacks(*unit.stream.op)) {
      ++outcome_.unsupported_units;
    } else {
      s = LiveUnit(unit);
    }
    console_.Status(absl::StrCat(CountText(outcome_.units, "unit"), " of digests compared"), false);
    return s;
  }

  // Of a unit with a model.
  absl::Status LiveUnit(const RecomputedUnit& unit) {
    const Operation& op = *unit.stream.op;
    if (device_->Dropped(op)) {
      ++dropped_units_;
      return absl::OkStatus();
    }
    const auto answers = device_->DigestOf(unit);
    const absl::StatusOr<Digest>&digest = answers.front(), &again = answers.back();
    if (device_->Drops(op, again.status())) {
      ++dropped_units_;
      return absl::OkStatus();
    }
    if (!again.ok()) return again.status();
    CompareUnit(unit, *digest, device_->device().name(), *digest != *again);
    return absl::OkStatus();
  }

  void CompareUnit(const RecomputedUnit& unit, Digest digest, const std::string& device,
                   bool flaky = false) {
    const std::string cases = absl::StrCat(FormatCaseName({unit.stream, unit.first}), " to ",
                                           unit.first + unit.cases - 1);
    const std::string text =
        Wrap(absl::StrCat(flaky ? "FLAKY DIGEST " : "DIGEST ", cases, "\n  model   ",
                          Hex(*unit.model), "\n  device  ", Hex(digest), "  ", device, "\n"),
             console_.style().width, 2);
    const bool equal = digest == unit.model;
    if (options_.test_results) {
      outcome_.test_results.push_back({absl::StrCat(cases, " ", device), equal ? "" : text});
    }
    ++(flaky ? outcome_.flaky_units : outcome_.units);
    if (equal) return;
    if (!flaky) ++outcome_.differing_units;
    mismatches_.Add({text,
                     {{"kind", flaky ? "flaky" : "mismatch"},
                      {"instruction", unit.stream.op->name},
                      {"where", cases},
                      {"device", device},
                      {"digest", Hex(digest)},
                      {"model", Hex(*unit.model)}}});
  }

  absl::Status Recorded(const std::string& path, bool in_folder = false) {
    absl::Status delivered;  // else the file is wrong
    const auto deliver = [&](const Recording& r) { return delivered = Stored(r, in_folder); };
    const absl::StatusOr<RecordingStats> stats = ReadRecordings(path, options_.instr, deliver);
    const bool wrong = in_folder && !stats.ok() && delivered.ok();
    // Lines without a name are whole: nobody says whose answers they are.
    not_understood_ = wrong && absl::IsInvalidArgument(stats.status());
    if (not_understood_) {
      console_.Warn(stats.status().message());
      return absl::OkStatus();
    }
    if (wrong || absl::IsDataLoss(stats.status())) {  // what came before the damage was compared
      console_.Warn(stats.status().message());
      outcome_.damaged = true;
      return absl::OkStatus();
    }
    if (!stats.ok()) return stats.status();
    Report(path, stats->damage);
    return absl::OkStatus();
  }

  void Report(const std::string& path, const std::vector<Damage>& damage) {
    for (const Damage& d : damage) {
      console_.Warn(absl::StrCat(path, ": ", Text(d)));
      outcome_.damaged = true;
    }
  }

  absl::Status Live(const Operation& op, const Batch& inputs, const StoredAt& where) {
    if (device_->Lacks(op)) return device_->device().Supports(op);
    return Take(device_->Ask(op, inputs), op, inputs, where);
  }

  absl::Status Live(const RegressionCase& c, const std::string& file) {
    if (device_->Lacks(*c.op)) return device_->device().Supports(*c.op);
    // What fails, or differs in an old process alone, is not asked again once it does.
    const bool once = c.no_word || c.age() > 0;
    // What was a difference is none any more if it is so five times.
    return Take(once ? device_->AskAt(*c.op, c.inputs, c.age())
                     : device_->Ask(*c.op, c.inputs, IsFinding(c)),
                *c.op, c.inputs, {file});
  }

  absl::Status Take(const absl::StatusOr<std::optional<AskedAnswers>>& answers, const Operation& op,
                    const Batch& inputs, const StoredAt& where) {
    if (!answers.ok()) return answers.status();
    if (!answers->has_value()) {
      ++dropped_cases_;
    } else {
      Add(op, inputs, **answers, where, device_->device().name());
    }
    return absl::OkStatus();
  }

  void Compare(const Operation& op, const Batch& inputs, const std::vector<uint64_t>& d,
               const StoredAt& where, const std::string& answering) {
    Add(op, inputs, AnswersTo(op, inputs, {d, {}, 0}), where, answering);
  }

  void Add(const Operation& op, const Batch& inputs, const AskedAnswers& answers,
           const StoredAt& where, const std::string& answering) {
    const std::string device = PlainLine(answering);  // it may come from a file
    const auto& [model, differing] = answers.comparison;
    const uint64_t compared = model.size() - answers.flaky.size();
    ++(compared > 0 ? cases_ : flaky_cases_);
    outcome_.compared += compared;
    outcome_.differing += differing.size();
    ReplayTally& tally = outcome_.tallies[device];
    tally.compared += compared;
    tally.differing += differing.size();
    tally.ops.insert(op.name);
    const Replayed said = !answers.flaky.empty() ? Replayed::kFlaky
                          : differing.empty()    ? Replayed::kEqual
                                                 : Replayed::kDiffers;
    said_ = std::max(said_.value_or(said), said);
    TestResult result = {absl::StrCat(Name(where), " ", device), ""};
    const auto print = [&, &model = model](int64_t element, bool flaky) {
      if (mismatches_.full()) return;
      const std::string at = Name(where + element);
      const ReplayReport report =
          flaky ? ReportFlaky(op, inputs, answers, element, at, device, "", console_.style())
                : Mismatch(op, Extract(inputs, element), model[element], answers.said, element, at,
                           device);
      mismatches_.Add(report);
      absl::StrAppend(&result.failure, report.text);
    };
    for (const int64_t element : differing) print(element, false);
    for (const int64_t element : answers.flaky) print(element, true);
    const bool fails = !differing.empty() || !answers.flaky.empty();
    if (fails && result.failure.empty()) result.failure = "differs";
    if (differing.empty() && fails) result.kind = "flaky";
    if (options_.test_results) outcome_.test_results.push_back(std::move(result));
  }

  ReplayReport Mismatch(const Operation& op, const DotProductCase& dot, uint64_t model,
                        const Answers& said, int64_t element, const std::string& where,
                        const std::string& device) const {
    const Format& f = *op.instruction->d;
    const TextStyle style = console_.style();
    const uint64_t d = said.d[element];
    const auto failure = said.FailureAt(element);
    ReplayReport report = ReportCase({"mismatch", op, dot, d, where, device, "", failure},
                                     failure ? DescribeFailure(f, model, *failure, style)
                                             : DescribeDifference(f, model, d, style),
                                     style);
    report.json["model"] = HexWord(f, model);
    return report;
  }

  const ReplayOptions& options_;
  AskedDevice* device_;  // nullptr: stored answers are compared
  const OnReport& report_;
  Console& console_;
  FirstReports mismatches_;
  VectorReplay vectors_;
  ReplayOutcome outcome_;
  std::optional<Replayed> said_;  // of the case at hand, by all its answers
  uint64_t cases_ = 0;            // compared, at least a part
  uint64_t flaky_cases_ = 0;      // all that was asked
  uint64_t dropped_cases_ = 0, dropped_units_ = 0;
  uint64_t not_sampled_ = 0;                                // units of digests
  std::set<const Operation*> selected_;                     // by options_.instr
  bool anything_selected_ = false, file_selected_ = false;  // in all, in the file at hand
  std::set<std::string> not_selected_;                      // what else there is
  bool not_understood_ = false;                             // the file at hand
  uint64_t other_cases_ = 0, other_units_ = 0;              // of it
  UnmodelledReplay unmodelled_;
};

}  // namespace

absl::StatusOr<ReplayOutcome> ReplaySubjects(const ReplayOptions& options, Engine* engine,
                                             const OnReport& report, Console& console) {
  if (!options.instr.empty() && MatchOperations(options.instr, Models::kOptional).empty()) {
    return absl::InvalidArgumentError(WhyNoOperation(options.instr));
  }
  std::optional<AskedDevice> asked;
  if (engine != nullptr) asked.emplace(*engine, options.threads, options.open, console);
  Replay replay(options, asked.has_value() ? &*asked : nullptr, report, console);
  for (const std::string& subject : options.subjects) {
    if (absl::Status s = replay.Subject(subject); !s.ok()) return s;
  }
  return replay.Finish();
}

}  // namespace mmadiff
