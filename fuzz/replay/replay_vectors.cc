#include "fuzz/replay/replay_vectors.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {

absl::Status VectorReplay::Compare(const Vector& v) {
  const std::vector<VectorCase> cases = CasesOf(v);
  for (auto first = cases.begin(); first != cases.end();) {
    const auto last = std::find_if(
        first, cases.end(), [first](const VectorCase& c) { return c.answer != first->answer; });
    RETURN_IF_ERROR(CompareAnswer(v, {first, last}));
    first = last;
  }
  return absl::OkStatus();
}

absl::Status VectorReplay::CompareAnswer(const Vector& v, std::span<const VectorCase> cases) {
  const VectorAnswer& answer = *cases.front().answer;
  const bool contested = answer.kind == AnswerKind::kContested;
  const std::string title =
      absl::StrCat(v.name, "  ", Name(answer.kind), " ", WordText(v, answer), " ", answer.patterns,
                   answer.who.empty() ? "" : " : ", answer.who);
  TestResult result = {title, ""};
  uint64_t done = 0, wrong = 0;
  std::string given;  // in place of a contested answer, to the first
  const Operation* op = nullptr;
  for (const VectorCase& c : cases) {
    if (!wanted_(*c.op)) continue;
    if (device_ != nullptr && device_->Lacks(*c.op)) {
      ++unsupported_;
      continue;
    }
    ASSIGN_OR_RETURN(const auto answered, AnswerTo(title, v, c));
    if (!answered.has_value()) continue;
    const uint64_t d = answered->d.front();
    const std::optional<InputFailure> failure = answered->FailureAt(0);
    ++done;
    if (given.empty()) {
      given = failure ? Name(*failure) : HexWord(*v.d, d);
      op = c.op;
    }
    const bool right = contested && device_ != nullptr ? Gives(*c.op, c.op->model, c.dot, d)
                                                       : Is(answer, *c.op, d) != contested;
    if (right && !failure) continue;
    ++wrong;
    const ReplayReport report = Mismatch(title, v, c, d, failure);
    mismatches_.Add(report);
    absl::StrAppend(&result.failure, report.text);
  }
  if (done == 0) return absl::OkStatus();
  by_kind_[static_cast<int>(answer.kind)] += done;
  compared_ += contested && device_ == nullptr ? wrong : done;
  differing_ += wrong;
  test_results_.push_back(std::move(result));
  if (contested && wrong == 0) {
    report_(
        {absl::StrCat(Wrap("CONTESTED " + title + "\n", style_.width, 2),
                      Labelled("  given     ", absl::StrCat(given, " ", op->name), style_.width),
                      Labelled("  reason    ", v.reason, style_.width)),
         {.kind = "contested",
          .op = op,
          .where = v.name,
          .vector = &v,
          .answer = &answer,
          .given = given,
          .reason = v.reason}});
  } else if (verbose_) {
    const char* kind = wrong == 0 ? "agrees" : "differs";
    report_({Labelled(absl::StrFormat("%-10s", kind), title, style_.width),
             {.kind = kind, .where = v.name, .vector = &v, .answer = &answer}});
  }
  return absl::OkStatus();
}

// Of the device, or of the model when there is none.
absl::StatusOr<std::optional<Answers>> VectorReplay::AnswerTo(const std::string& title,
                                                              const Vector& v,
                                                              const VectorCase& c) {
  if (device_ == nullptr) return Answers{{Simulate(c.op->model, c.dot)}, {}, 0};
  const Batch inputs = MakeDotProductBatch(c.op->shape(), {c.dot});
  const auto answers = device_->Ask(*c.op, inputs);
  if (!answers.ok()) return answers.status();
  if (!answers->has_value()) return std::nullopt;
  if ((*answers)->flaky.empty()) return std::move((*answers)->said);
  ++flaky_;
  ReplayReport report =
      ReportFlaky(*c.op, inputs, **answers, 0, v.name, device_->device().name(), title, style_);
  report.row.vector = &v;
  report.row.answer = c.answer;
  mismatches_.Add(report);
  return std::nullopt;
}

ReplayReport VectorReplay::Mismatch(const std::string& title, const Vector& v, const VectorCase& c,
                                    uint64_t given,
                                    const std::optional<InputFailure>& failure) const {
  const bool model = device_ == nullptr, contested = c.answer->kind == AnswerKind::kContested;
  const uint64_t of_model = Simulate(c.op->model, c.dot);
  std::string lines = "  no longer differs: remove or regrade it\n";
  if (failure) {
    lines = DescribeFailure(*v.d, of_model, *failure, style_);
  } else if (contested && !model) {
    lines = DescribeDifference(*v.d, of_model, given, style_);
  } else if (!contested) {
    lines = absl::StrReplaceAll(
        DescribeDifference(*v.d, model ? given : c.answer->d, model ? c.answer->d : given, style_),
        {{model ? "device  " : "model   ", "answer  "}});
  }
  return ReportCase({.kind = "mismatch",
                     .op = c.op,
                     .where = v.name,
                     .device = model ? "" : device_->device().name(),
                     .dot = c.dot,
                     .d = given,
                     .failure = failure,
                     .model = HexWord(*v.d, of_model),
                     .vector = &v,
                     .answer = c.answer},
                    lines, style_, title);
}

}  // namespace mmadiff
