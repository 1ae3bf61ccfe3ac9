#include "fuzz/replay/replay_modelled.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "corpus/hex.h"
#include "device/line_protocol.h"
#include "device/plain_text.h"
#include "triage/verdict.h"

namespace mmadiff {

absl::Status ModelledReplay::Compare(const Recording& recording, const Batch& inputs,
                                     bool in_folder) {
  const Operation& op = *recording.op;
  if (device_ == nullptr) {
    Add(op, inputs, AnswersTo(op, inputs, {recording.d, {}, 0}), recording.where,
        recording.identity);
  } else if (!in_folder || !device_->Lacks(op)) {
    return Ask(op, inputs, recording.where);
  } else {
    ++outcome_.unsupported;
  }
  return absl::OkStatus();
}

absl::Status ModelledReplay::Ask(const Operation& op, const Batch& inputs, const StoredAt& where) {
  if (device_->Lacks(op)) return device_->device().Supports(op);
  return Take(device_->Ask(op, inputs), op, inputs, where);
}

absl::Status ModelledReplay::Compare(const RegressionCase& c, const std::string& file,
                                     bool in_folder) {
  said_.reset();
  const Operation& op = *c.op;
  if (device_ != nullptr && device_->Lacks(op)) {
    if (!in_folder) return device_->device().Supports(op);
    ++outcome_.unsupported;
    return absl::OkStatus();
  }
  if (device_ != nullptr) {
    // What fails, or differs in an old process alone, is not asked again once it does; what was
    // another difference is none any more if it is so five times.
    const bool once = c.no_word || c.age() > 0;
    return Take(
        once ? device_->AskAt(op, c.inputs, c.age()) : device_->Ask(op, c.inputs, IsFinding(c)), op,
        c.inputs, {file});
  }
  if (c.no_word) {
    Answers said;
    said.Fail(c.no_word->failure);
    Add(op, c.inputs, AnswersTo(op, c.inputs, std::move(said)), {file}, c.no_word->device);
  }
  for (const Answer& answer : c.answers) {
    // A prediction of the model that a device refutes is no expectation any more.
    if (answer.IsPrediction() && (c.no_word || c.answers.size() > 1)) continue;
    Add(op, c.inputs, AnswersTo(op, c.inputs, {answer.d, {}, 0}), {file}, answer.device);
  }
  return absl::OkStatus();
}

absl::Status ModelledReplay::Compare(const RecomputedUnit& unit) {
  const Operation& op = *unit.stream.op;
  if (device_ == nullptr) {
    Add(unit, unit.recorded, unit.identity, false);
    return absl::OkStatus();
  }
  if (device_->Lacks(op)) {
    ++outcome_.unsupported_units;
    return absl::OkStatus();
  }
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
  Add(unit, *digest, device_->device().name(), *digest != *again);
  return absl::OkStatus();
}

absl::Status ModelledReplay::Take(const absl::StatusOr<std::optional<AskedAnswers>>& answers,
                                  const Operation& op, const Batch& inputs, const StoredAt& where) {
  if (!answers.ok()) return answers.status();
  if (!answers->has_value()) {
    ++dropped_cases_;
  } else {
    Add(op, inputs, **answers, where, device_->device().name());
  }
  return absl::OkStatus();
}

void ModelledReplay::Add(const Operation& op, const Batch& inputs, const AskedAnswers& answers,
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
    if (reports_.full()) return;
    const std::string at = Name(where + element);
    const ReplayReport report =
        flaky ? ReportFlaky(op, inputs, answers, element, at, device, "", style_)
              : Mismatch(op, Extract(inputs, element), model[element], answers.said, element, at,
                         device);
    reports_.Add(report);
    absl::StrAppend(&result.failure, report.text);
  };
  for (const int64_t element : differing) print(element, false);
  for (const int64_t element : answers.flaky) print(element, true);
  const bool fails = !differing.empty() || !answers.flaky.empty();
  if (fails && result.failure.empty()) result.failure = "differs";
  if (differing.empty() && fails) result.kind = "flaky";
  if (test_results_) outcome_.test_results.push_back(std::move(result));
}

ReplayReport ModelledReplay::Mismatch(const Operation& op, const DotProductCase& dot,
                                      uint64_t model, const Answers& said, int64_t element,
                                      const std::string& where, const std::string& device) const {
  const Format& f = *op.instruction->d;
  const uint64_t d = said.d[element];
  const auto failure = said.FailureAt(element);
  return ReportCase({.kind = "mismatch",
                     .op = &op,
                     .where = where,
                     .device = device,
                     .dot = dot,
                     .d = d,
                     .failure = failure,
                     .model = HexWord(f, model)},
                    failure ? DescribeFailure(f, model, *failure, style_)
                            : DescribeDifference(f, model, d, style_),
                    style_);
}

void ModelledReplay::Add(const RecomputedUnit& unit, Digest digest, const std::string& device,
                         bool flaky) {
  const std::string cases =
      absl::StrCat(FormatCaseName({unit.stream, unit.first}), " to ", unit.first + unit.cases - 1);
  const std::string text =
      Wrap(absl::StrCat(flaky ? "FLAKY DIGEST " : "DIGEST ", cases, "\n  model   ",
                        Hex(*unit.model), "\n  device  ", Hex(digest), "  ", device, "\n"),
           style_.width, 2);
  const bool equal = digest == unit.model;
  if (test_results_) {
    outcome_.test_results.push_back({absl::StrCat(cases, " ", device), equal ? "" : text});
  }
  ++(flaky ? outcome_.flaky_units : outcome_.units);
  if (equal) return;
  if (!flaky) ++outcome_.differing_units;
  reports_.Add({text,
                {.kind = flaky ? "flaky" : "mismatch",
                 .op = unit.stream.op,
                 .where = cases,
                 .device = device,
                 .digest = Hex(digest),
                 .model = Hex(*unit.model)}});
}

}  // namespace mmadiff
