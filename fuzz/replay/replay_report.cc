#include "fuzz/replay/replay_report.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "fuzz/output/shared_fields.h"
#include "triage/case_text.h"

namespace mmadiff {
namespace {

std::optional<DotProductWords> WordsOf(const ReplayRow& row) {
  if (!row.dot) return std::nullopt;
  const std::optional<uint64_t> d = row.failure ? std::nullopt : std::optional(row.d);
  return DotProductWords{*row.op->instruction, *row.dot, d};
}

std::optional<AnswerOfVector> AnswerOf(const ReplayRow& row) {
  if (row.answer == nullptr) return std::nullopt;
  return AnswerOfVector{*row.vector, *row.answer};
}

}  // namespace

Fields<ReplayRow> FieldsOf(const ReplayRow*) {
  using R = ReplayRow;
  return {
      {"kind",
       &R::kind,
       {.what = "mismatch, flaky, changed: a dot product or a unit of digests; contested: a known "
                "difference; agrees, differs: with --verbose, every other answer of a vector; "
                "survey: a contradiction or a problem that a survey found in a row",
        .words = {"mismatch", "flaky", "changed", "contested", "agrees", "differs", "survey"}}},
      {"instruction", [](const R& r) { return r.op ? std::optional(r.op->name) : std::nullopt; },
       Absent(InstructionName())},
      {"where", &R::where,
       "file (perhaps with a line), case name, FILE/NAME of a vector, first case to last index of "
       "a unit, or folder of a survey"},
      {"answered_by", &R::device,
       Absent({.what = "device that gave d: its specification or identity, as in the file; \"\" "
                       "for the model, which is compared with the answer of a vector"})},
      {"dot_product", WordsOf, Absent()},
      {"digest", &R::digest, Absent(HexDigest("digest of a unit"))},
      {"failure", [](const R& r) { return FailureName(r.failure); }, Absent(FailureName())},
      {"said", [](const R& r) { return r.failure ? FailureText(r.failure) : r.said; },
       Absent(Prose("output of the program that failed, or text of the survey"))},
      {"model", &R::model, Absent(HexDigits("the model's word, or its digest of a unit"))},
      {"again", &R::again, Absent(HexDigits("second answer to a flaky dot product or unit"))},
      {"answer", AnswerOf, Absent({.what = "answer of a vector"})},
      {"given", &R::given, Absent(HexDigits("word given instead of the contested answer"))},
      {"reason", &R::reason, Absent(Prose("reason for the difference"))},
      {"recorded", &R::recorded,
       Absent(HexDigits("recorded answer or digest that the device no longer gives"))},
      {"recorded_by", &R::recorded_by, Absent({.what = "device that gave `recorded`"})},
  };
}

ReplayReport ReportCase(const ReplayRow& row, absl::string_view lines, const TextStyle& style,
                        const std::string& title) {
  const std::string shown = title.empty() ? absl::StrCat(row.where, "  ", *row.device) : title;
  const std::string head =
      absl::StrCat(absl::AsciiStrToUpper(row.kind), " ", row.op->name, "  ", shown, "\n");
  return {
      absl::StrCat(Wrap(head, style.width, 2), CaseText(*row.op, *row.dot, 2, style.width), lines),
      row};
}

ReplayRow RowOf(const char* kind, const std::string& where, const std::string& device,
                const Operation& op, const Batch& inputs, const ConfirmedAnswers& answers,
                int64_t element) {
  return {.kind = kind,
          .op = &op,
          .where = where,
          .device = device,
          .dot = Extract(inputs, element),
          .d = answers.said.d[element],
          .failure = answers.said.FailureAt(element),
          .model = HexWord(*op.instruction->d, answers.comparison.model[element])};
}

ReplayReport ReportFlaky(ReplayRow row, const ConfirmedAnswers& answers, int64_t element,
                         const TextStyle& style, const std::string& title) {
  const auto text = [&](const Answers& answers) {
    const auto failure = answers.FailureAt(element);
    return failure ? Describe(*failure) : HexWord(*row.op->instruction->d, answers.d[element]);
  };
  const std::string lines = absl::StrCat("  model      ", *row.model, "\n  device     ",
                                         text(answers.said), ", then ", text(answers.again), "\n");
  if (!answers.again.FailureAt(element)) row.again = text(answers.again);
  return ReportCase(row, Wrap(lines, style.width, 13), style, title);
}

}  // namespace mmadiff
