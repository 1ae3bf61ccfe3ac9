#include "fuzz/replay/replay_vectors.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// The answer of the device, or of the model if there is no device. Nothing if the device gives no
// answer, or a flaky one, which is reported.
absl::StatusOr<std::optional<ReplayRow>> AnswerTo(const std::string& title, const Vector& v,
                                                  const VectorCase& c, ReplayState& replay) {
  const Operation& op = *c.op;
  const Batch inputs = MakeDotProductBatch(op.shape(), {c.dot});
  std::string name;
  std::optional<ConfirmedAnswers> answers;
  if (replay.device == nullptr) {
    answers = AnswersTo(op, inputs, {{Simulate(op.model, c.dot)}, {}, 0});
  } else {
    name = replay.device->device().name();
    ASSIGN_OR_RETURN(answers, replay.device->Ask(op, inputs));
    if (!answers.has_value()) return std::nullopt;
  }
  const bool flaky = !answers->flaky.empty();
  ReplayRow row = RowOf(flaky ? "flaky" : "mismatch", v.name, name, op, inputs, *answers, 0);
  row.vector = &v;
  row.answer = c.answer;
  if (!flaky) return row;
  replay.Leave(Thing::kCase, Reason::kDoesNotRepeat);
  replay.mismatches.Add(ReportFlaky(row, *answers, 0, replay.style, title));
  return std::nullopt;
}

ReplayReport MismatchOfVector(const ReplayRow& row, const std::string& title,
                              const ReplayState& replay) {
  const Format& f = *row.vector->d;
  const uint64_t of_model = Simulate(row.op->model, *row.dot);
  const bool model = replay.device == nullptr,
             contested = row.answer->kind == AnswerKind::kContested;
  std::string lines = "  no longer differs: remove or regrade it\n";
  if (row.failure) {
    lines = DescribeFailure(f, of_model, *row.failure, replay.style);
  } else if (contested && !model) {
    lines = DescribeDifference(f, of_model, row.d, replay.style);
  } else if (!contested) {
    lines = absl::StrReplaceAll(DescribeDifference(f, model ? row.d : row.answer->d,
                                                   model ? row.answer->d : row.d, replay.style),
                                {{model ? "device  " : "model   ", "answer  "}});
  }
  return ReportCase(row, lines, replay.style, title);
}

// Compares the cases of one answer.
absl::Status CompareAnswer(const Vector& v, std::span<const VectorCase> cases,
                           absl::FunctionRef<bool(const Operation&)> wanted, ReplayState& replay) {
  const VectorAnswer& answer = *cases.front().answer;
  const bool contested = answer.kind == AnswerKind::kContested;
  const std::string title =
      absl::StrCat(v.name, "  ", Name(answer.kind), " ", WordText(v, answer), " ", answer.patterns,
                   answer.who.empty() ? "" : " : ", answer.who);
  TestResult result = {title, ""};
  uint64_t done = 0, wrong = 0;
  std::string given;  // answer to the first case, instead of a contested answer
  const Operation* op = nullptr;
  ReplayDevice* const device = replay.device;
  for (const VectorCase& c : cases) {
    if (!wanted(*c.op)) continue;
    if (device != nullptr && device->Lacks(*c.op)) {
      ++replay.outcome.unsupported;
      continue;
    }
    ASSIGN_OR_RETURN(const auto row, AnswerTo(title, v, c, replay));
    if (!row.has_value()) continue;
    ++done;
    if (given.empty()) {
      given = row->failure ? Name(*row->failure) : HexWord(*v.d, row->d);
      op = c.op;
    }
    const bool right = contested && device != nullptr ? Gives(*c.op, c.op->model, c.dot, row->d)
                                                      : Is(answer, *c.op, row->d) != contested;
    if (right && !row->failure) continue;
    ++wrong;
    const ReplayReport report = MismatchOfVector(*row, title, replay);
    replay.mismatches.Add(report);
    absl::StrAppend(&result.failure, report.text);
  }
  if (done == 0) return absl::OkStatus();
  const uint64_t compared = contested && device == nullptr ? wrong : done;
  replay.Compared(Thing::kCase, compared);
  replay.outcome.compared += compared;
  replay.outcome.differing += wrong;
  replay.outcome.vectors[static_cast<int>(answer.kind)] += done;
  if (replay.options.test_results) replay.vector_results.push_back(std::move(result));
  const size_t width = replay.style.width;
  if (contested && wrong == 0) {
    replay.report({absl::StrCat(Wrap("CONTESTED " + title + "\n", width, 2),
                                Labelled("  given     ", absl::StrCat(given, " ", op->name), width),
                                Labelled("  reason    ", v.reason, width)),
                   {.kind = "contested",
                    .op = op,
                    .where = v.name,
                    .vector = &v,
                    .answer = &answer,
                    .given = given,
                    .reason = v.reason}});
  } else if (replay.options.verbose) {
    const char* kind = wrong == 0 ? "agrees" : "differs";
    replay.report({Labelled(absl::StrFormat("%-10s", kind), title, width),
                   {.kind = kind, .where = v.name, .vector = &v, .answer = &answer}});
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CompareVector(const Vector& v, absl::FunctionRef<bool(const Operation&)> wanted,
                           ReplayState& replay) {
  const std::vector<VectorCase> cases = CasesOf(v);
  for (auto first = cases.begin(); first != cases.end();) {
    const auto last = std::find_if(
        first, cases.end(), [first](const VectorCase& c) { return c.answer != first->answer; });
    RETURN_IF_ERROR(CompareAnswer(v, {first, last}, wanted, replay));
    first = last;
  }
  return absl::OkStatus();
}

}  // namespace mmadiff
