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
       {.what =
            "mismatch, flaky, changed: of a dot product or a unit of digests; contested: a known "
            "difference; agrees, differs: with --verbose, every other answer of a vector; "
            "survey: what a survey itself said of a row",
        .words = {"mismatch", "flaky", "changed", "contested", "agrees", "differs", "survey"}}},
      {"instruction", [](const R& r) { return r.op ? std::optional(r.op->name) : std::nullopt; },
       Absent(InstructionName())},
      {"where", &R::where,
       "file, perhaps with a line, case name, FILE/NAME of a vector, first case to last index of a "
       "unit, or folder of a survey"},
      {"answered_by", &R::device,
       Absent({.what = "specification or identity, as the file names it, of whose answer d is; "
                       "\"\": the model's, held against the answer of a vector"})},
      {"dot_product", WordsOf, Absent()},
      {"digest", &R::digest, Absent(HexDigest("of a unit"))},
      {"failure", [](const R& r) { return FailureName(r.failure); }, Absent(FailureName())},
      {"said", [](const R& r) { return r.failure ? FailureText(r.failure) : r.said; },
       Absent(Prose("what the program said, or a survey"))},
      {"model", &R::model, Absent(HexDigits("a word, or the digest of a unit"))},
      {"again", &R::again, Absent(HexDigits("of what is flaky: the second answer"))},
      {"answer", AnswerOf, Absent({.what = "of a vector"})},
      {"given", &R::given, Absent(HexDigits("instead of the contested answer"))},
      {"reason", &R::reason, Absent(Prose("of the difference"))},
      {"recorded", &R::recorded,
       Absent(HexDigits("of an instruction without a model: what was answered then"))},
      {"recorded_by", &R::recorded_by, Absent()},
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
