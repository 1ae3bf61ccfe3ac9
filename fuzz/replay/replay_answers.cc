#include "fuzz/replay/replay_answers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "corpus/hex.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "fuzz/output/progress.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxOfTile = 3;  // mismatches of one filed tile that are printed in full

absl::Status LeaveOut(const Operation& op, bool in_folder, ReplayState& replay) {
  if (!in_folder) return replay.device->device().Supports(op);
  ++replay.outcome.unsupported;
  return absl::OkStatus();
}

// `answering`: the device that gave the answers.
Replayed Add(const Operation& op, const Batch& inputs, const ConfirmedAnswers& answers,
             const StoredAt& where, const std::string& answering, ReplayState& replay) {
  const std::string device = PlainLine(answering);  // it may come from a file
  const auto& [model, differing] = answers.comparison;
  const uint64_t compared = model.size() - answers.flaky.size();
  if (compared > 0) {
    replay.Compared(Thing::kCase);
  } else {
    replay.Leave(Thing::kCase, Reason::kDoesNotRepeat);
  }
  replay.outcome.compared += compared;
  replay.outcome.differing += differing.size();
  ReplayTally& tally = replay.outcome.tallies[device];
  tally.compared += compared;
  tally.differing += differing.size();
  tally.ops.insert(op.name);
  TestResult result = {absl::StrCat(Name(where), " ", device), ""};
  const auto print = [&, &model = model](int64_t element, bool flaky, size_t rank = 0) {
    if (replay.mismatches.full()) return;
    const ReplayRow row = RowOf(flaky ? "flaky" : "mismatch", Name(where + element), device, op,
                                inputs, answers, element);
    const Format& f = *op.instruction->d;
    ReplayReport report =
        flaky ? ReportFlaky(row, answers, element, replay.style)
              : ReportCase(row,
                           row.failure
                               ? DescribeFailure(f, model[element], *row.failure, replay.style)
                               : DescribeDifference(f, model[element], row.d, replay.style),
                           replay.style);
    if (rank > kMaxOfTile) report.text.clear();
    if (rank == kMaxOfTile) {
      report.text =
          absl::StrCat("  and ", CountText(differing.size() - rank, "more dot product"),
                       " of this case (--json --max_reports=", differing.size(), " lists all)\n");
    }
    replay.mismatches.Add(report);
    absl::StrAppend(&result.failure, report.text);
  };
  const bool tile = inputs.count == 1 && where.line == 0;
  for (size_t i = 0; i < differing.size(); ++i) print(differing[i], false, tile ? i : 0);
  for (const int64_t element : answers.flaky) print(element, true);
  const bool fails = !differing.empty() || !answers.flaky.empty();
  if (fails && result.failure.empty()) result.failure = "differs";
  if (differing.empty() && fails) result.kind = "flaky";
  if (replay.options.test_results) replay.outcome.test_results.push_back(std::move(result));
  return !answers.flaky.empty() ? Replayed::kFlaky
         : differing.empty()    ? Replayed::kEqual
                                : Replayed::kDiffers;
}

absl::StatusOr<std::optional<Replayed>> AddNow(
    const absl::StatusOr<std::optional<ConfirmedAnswers>>& answers, const Operation& op,
    const Batch& inputs, const StoredAt& where, ReplayState& replay) {
  RETURN_IF_ERROR(answers.status());
  if (answers->has_value()) {
    return Add(op, inputs, **answers, where, replay.device->device().name(), replay);
  }
  replay.Leave(Thing::kCase, Reason::kDropped);
  return std::nullopt;
}

// `d`: the device's current answers.
void AddChanges(const Recording& recording, const Batch& inputs, const std::vector<uint64_t>& d,
                ReplayState& replay) {
  const Operation& op = *recording.op;
  const std::string by = PlainLine(recording.identity), now = replay.device->device().name();
  TestResult result = {absl::StrCat(Name(recording.where), " again by ", now), ""};
  replay.outcome.repeated += d.size();
  for (size_t i = 0; i < d.size(); ++i) {
    if (d[i] == recording.d[i]) continue;
    ++replay.outcome.changed;
    if (!result.failure.empty()) continue;
    const auto element = static_cast<int64_t>(i);
    const Format& f = *op.instruction->d;
    const std::string recorded = HexWord(f, recording.d[i]);
    const size_t width = replay.style.width;
    const ReplayReport first =
        ReportCase({.kind = "changed",
                    .op = &op,
                    .where = WhereOf(recording, element),
                    .device = now,
                    .dot = Extract(inputs, element),
                    .d = d[i],
                    .recorded = recorded,
                    .recorded_by = by},
                   Labelled("  recorded   ", absl::StrCat(recorded, "  ", by), width) +
                       Labelled("  now        ", absl::StrCat(HexWord(f, d[i]), "  ", now), width),
                   replay.style);
    replay.mismatches.Add(first);
    result.failure = first.text;
  }
  if (replay.options.test_results) replay.outcome.test_results.push_back(std::move(result));
}

absl::Status CompareUnmodelled(const Recording& recording, ReplayState& replay) {
  const Operation& op = *recording.op;
  ReplayDevice* const device = replay.device;
  replay.outcome.unmodelled += recording.d.size();
  replay.outcome.unmodelled_ops.insert(op.name);
  if (device == nullptr || device->Dropped(op)) return absl::OkStatus();
  if (device->Lacks(op)) return LeaveOut(op, true, replay);
  ASSIGN_OR_RETURN(const Batch inputs, InputsOf(recording));
  const auto d = device->device().Run(op, inputs);
  if (device->Drops(op, d.status())) return absl::OkStatus();
  RETURN_IF_ERROR(d.status());
  AddChanges(recording, inputs, *d, replay);
  return absl::OkStatus();
}

std::string CasesText(const CaseStream& stream, uint64_t first, uint64_t cases) {
  return absl::StrCat(FormatCaseName({stream, first}), " to ", first + cases - 1);
}

// `unit` has a model; `flaky`: the device gave a different answer when the unit was repeated.
void AddUnit(const RecomputedUnit& unit, Digest answer, bool flaky, const std::string& device,
             ReplayState& replay) {
  ReplayOutcome& outcome = replay.outcome;
  const bool equal = answer == *unit.model;
  const std::string cases = CasesText(unit.stream, unit.first, unit.cases);
  const ReplayRow row = {.kind = flaky ? "flaky" : "mismatch",
                         .op = unit.stream.op,
                         .where = cases,
                         .device = device,
                         .digest = Hex(answer),
                         .model = Hex(*unit.model)};
  const std::string text =
      Wrap(absl::StrCat(flaky ? "FLAKY DIGEST " : "DIGEST ", cases, "\n  model   ", *row.model,
                        "\n  device  ", *row.digest, "  ", device, "\n"),
           replay.style.width, 2);
  ++(flaky ? outcome.flaky_units : outcome.units);
  outcome.differing_units += !flaky && !equal;
  if (!equal) replay.mismatches.Add({text, row});
  if (!replay.options.test_results) return;
  outcome.test_results.push_back({absl::StrCat(cases, " ", device), equal ? "" : text});
}

// Compares the answers of the device with the recorded digest.
void AddAnswered(const RecomputedUnit& unit, ReplayState& replay) {
  ReplayOutcome& outcome = replay.outcome;
  const auto& [first, count, recorded, now] = *unit.answered;
  const bool equal = now == recorded;
  const std::string cases = CasesText(unit.stream, first, count);
  const std::string device = replay.device->device().name();
  const ReplayRow row = {.kind = "changed",
                         .op = unit.stream.op,
                         .where = cases,
                         .device = device,
                         .digest = Hex(now),
                         .recorded = Hex(recorded),
                         .recorded_by = PlainLine(unit.identity)};
  const std::string text =
      Wrap(absl::StrCat("CHANGED DIGEST ", cases, "\n  recorded  ", *row.recorded, "  ",
                        *row.recorded_by, "\n  now       ", *row.digest, "  ", device, "\n"),
           replay.style.width, 2);
  ++outcome.digests_answered;
  outcome.digests_as_recorded += equal;
  if (!unit.model.has_value()) {
    ++outcome.repeated_units;
    outcome.changed_units += !equal;
  }
  if (!equal) replay.mismatches.Add({text, row});
  if (!replay.options.test_results) return;
  outcome.test_results.push_back({absl::StrCat(cases, " again by ", device), equal ? "" : text});
}

}  // namespace

absl::Status CompareRecording(const Recording& recording, bool in_folder, ReplayState& replay) {
  const Operation& op = *recording.op;
  if (!IsModelled(op)) return CompareUnmodelled(recording, replay);
  ASSIGN_OR_RETURN(const Batch inputs, InputsOf(recording));
  if (replay.device == nullptr) {
    Add(op, inputs, AnswersTo(op, inputs, {recording.d, {}, 0}), recording.where,
        recording.identity, replay);
    return absl::OkStatus();
  }
  if (replay.device->Lacks(op)) return LeaveOut(op, in_folder, replay);
  return CompareAnswersNow(op, inputs, recording.where, replay).status();
}

absl::StatusOr<std::optional<Replayed>> CompareAnswersNow(const Operation& op, const Batch& inputs,
                                                          const StoredAt& where,
                                                          ReplayState& replay) {
  if (replay.device->Lacks(op)) return replay.device->device().Supports(op);
  return AddNow(replay.device->Ask(op, inputs), op, inputs, where, replay);
}

absl::StatusOr<std::optional<Replayed>> CompareCase(const RegressionCase& c,
                                                    const std::string& file, bool in_folder,
                                                    ReplayState& replay) {
  const Operation& op = *c.op;
  ReplayDevice* const device = replay.device;
  if (device != nullptr && device->Lacks(op)) {
    RETURN_IF_ERROR(LeaveOut(op, in_folder, replay));
    return std::nullopt;
  }
  if (device != nullptr) {
    // A case that fails, or differs only in an old process, is repeated until it does so once. Any
    // other finding counts as gone only if five answers agree.
    const bool once = c.no_word || c.age() > 0;
    return AddNow(
        once ? device->AskAt(op, c.inputs, c.age()) : device->Ask(op, c.inputs, IsFinding(c)), op,
        c.inputs, {file}, replay);
  }
  std::optional<Replayed> gravest;
  const auto add = [&](Answers stored, const std::string& answering) {
    const ConfirmedAnswers answers = AnswersTo(op, c.inputs, std::move(stored));
    gravest = std::max(gravest, {Add(op, c.inputs, answers, {file}, answering, replay)});
  };
  if (c.no_word) {
    Answers failed;
    failed.Fail(c.no_word->failure);
    add(std::move(failed), c.no_word->device);
  }
  for (const Answer& answer : c.answers) {
    // Predictions count only if the case has no answer of a device.
    if (answer.IsPrediction() && (c.no_word || c.answers.size() > 1)) continue;
    add({answer.d, {}, 0}, answer.device);
  }
  return gravest;
}

absl::Status CompareUnit(const RecomputedUnit& unit, ReplayState& replay) {
  const Operation& op = *unit.stream.op;
  ReplayDevice* const device = replay.device;
  const bool modelled = unit.model.has_value();
  if (!modelled) {
    ++replay.outcome.unmodelled_units;
    replay.outcome.unmodelled_ops.insert(op.name);
  }
  if (device == nullptr) {
    if (!modelled) return absl::OkStatus();
    replay.outcome.units_of_nans += unit.nans_only;
    AddUnit(unit, unit.nans_only ? *unit.model : *unit.recorded, false, unit.identity, replay);
    return absl::OkStatus();
  }
  if (device->Lacks(op)) {
    ++replay.outcome.unsupported_units;
    return absl::OkStatus();
  }
  if (!device->Dropped(op)) {
    const absl::StatusOr<Digest>&first = unit.answers.front(), &last = unit.answers.back();
    if (!device->Drops(op, last.status())) {
      RETURN_IF_ERROR(last.status());
      if (modelled) AddUnit(unit, *first, *first != *last, device->device().name(), replay);
      if (unit.answered.has_value()) AddAnswered(unit, replay);
      return absl::OkStatus();
    }
  }
  if (modelled) replay.Leave(Thing::kUnit, Reason::kDropped);
  return absl::OkStatus();
}

}  // namespace mmadiff
