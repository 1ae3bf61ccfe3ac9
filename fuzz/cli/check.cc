// mmadiff check: compares results from any source with the model.
#include <unistd.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/json_rows.h"
#include "fuzz/cli/protocol.h"
#include "triage/case_text.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

struct CheckFlags {
  std::string op, expect;
  uint64_t max_reports = 20;
};

// An error if a stream of `lines` dot products has too few or too many. Without `expected`, neither
// can be detected.
absl::Status CheckCount(uint64_t lines, std::optional<uint64_t> expected, bool any) {
  if (expected.has_value() && lines != *expected) {
    return absl::DataLossError(
        lines < *expected
            ? absl::StrCat(*expected - lines, " of ", *expected, " dot products are missing")
            : absl::StrCat(lines - *expected, " dot products more than the ", *expected,
                           " announced"));
  }
  if (lines == 0) return absl::OutOfRangeError("nothing was compared; this is not a pass");
  if (expected.has_value() || any) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "the stream does not announce its number of dot products (`# lines: N`): pass the comments "
      "of `gen` through, or use --expect=N or --expect=any");
}

// A dot product whose result differs.
struct DifferingLine {
  const Operation& op;
  const DotProductCase& dot;
  std::optional<uint64_t> d;
  uint64_t line, model;
  const std::optional<InputFailure>& failure;
};

Fields<DifferingLine> FieldsOf(const DifferingLine*) {
  using L = DifferingLine;
  return {
      Field<L>::Flat([](const L& l) {
        return DotProductWords{*l.op.instruction, l.dot, l.d};
      }),
      {"line", &L::line, {.what = "line number in the input", .least = 1}},
      {"model", [](const L& l) { return HexWord(*l.op.instruction->d, l.model); }, HexDigits()},
      {"failure", [](const L& l) { return FailureName(l.failure); }, Absent(FailureName())},
      {"said", [](const L& l) { return FailureText(l.failure); },
       Absent(Prose("failure message of the program"))},
  };
}

struct CheckResult {
  const Operation& op;
  uint64_t lines = 0, equal = 0;
  std::string error = "";
};

Fields<CheckResult> FieldsOf(const CheckResult*) {
  using R = CheckResult;
  return {
      {"instruction", [](const R& r) { return r.op.name; }, InstructionName()},
      {"differing", [](const R&) { return std::vector<DifferingLine>(); },
       "first --max_reports of the differing lines"},
      {"lines", &R::lines, "dot products"},
      {"equal", &R::equal},
      {"error", &R::error, Prose("error in the input; empty if there was none")},
  };
}

void RunCheck(const CheckFlags& flags, Call& call) {
  const absl::StatusOr<const Operation*> op = OneOperation(flags.op);
  if (!op.ok()) return call.Say(op.status());
  const Instruction& instruction = *(*op)->instruction;
  // Typed input has no header, and its end is visible to the user.
  const bool any = flags.expect == "any" || (flags.expect.empty() && isatty(STDIN_FILENO) == 1);
  std::optional<uint64_t> expected;
  if (!any && !flags.expect.empty()) {
    const absl::StatusOr<uint64_t> count = ParseCount(flags.expect);
    if (!count.ok()) return call.Say(count.status());
    expected = *count;
  }
  if (any && flags.expect.empty() && !call.globals.quiet) {
    call.console.Warn("type or paste lines of operands and a result; end with Ctrl-D");
  }
  std::optional<JsonRows> rows;
  if (call.globals.json) rows.emplace(JsonOf(CheckResult{**op}), "differing");
  uint64_t lines = 0, differing = 0;
  const auto compare = [&](const Portion& portion) {
    Answers answers = portion.answers;
    CountFailures(**op, portion.batch, answers);
    const auto [model, different] = Compare(**op, portion.batch, answers.d);
    lines += model.size();
    for (const int64_t i : different) {
      if (differing++ >= flags.max_reports) continue;
      const DotProductCase dot = Extract(portion.batch, i);
      const std::optional<InputFailure> failure = answers.FailureAt(i);
      if (rows) {
        std::optional<uint64_t> d;
        if (!failure) d = answers.d[i];
        rows->Add(JsonOf(DifferingLine{**op, dot, d, portion.line[i], model[i], failure}));
        continue;
      }
      const TextStyle style = call.console.style();
      call.console.Print(absl::StrCat(
          "line ", portion.line[i], ":\n", CaseText(**op, dot, 2, style.width),
          failure ? DescribeFailure(*instruction.d, model[i], *failure, style)
                  : DescribeDifference(*instruction.d, model[i], answers.d[i], style)));
    }
    return absl::OkStatus();
  };
  StdinReader reader(**op, true, compare);
  absl::Status status = reader.Read();
  const bool named = expected.has_value() || any;
  if (!named) expected = reader.announced();
  if (status.ok()) status = CheckCount(lines, expected, any);
  if (status.ok() && !named && !reader.sealed()) {
    status = absl::DataLossError(
        "the stream announces its number of dot products but not their hash (`# operands: HASH`): "
        "pass all comments of `gen` through, or use --expect=N");
  }
  if (rows) {
    rows->Finish(
        JsonOf(CheckResult{**op, lines, lines - differing, std::string(status.message())}));
  } else {
    call.console.Print(
        Wrap(absl::StrCat((*op)->name, ": ", lines - differing, " of ", lines, " equal\n"),
             call.console.style().width, 2));
  }
  if (differing > 0) {
    call.Say(Verdict::kDiffers, std::string(status.message()));
  } else {
    call.Say(status);
  }
}

}  // namespace

Action AddCheck(CLI::App& command) {
  const auto flags = std::make_shared<CheckFlags>();
  AddInstruction(command, flags->op);
  AddOption(command, "--max_reports", flags->max_reports, "number of differing lines to print")
      .Count();
  AddOption(command, "--expect", flags->expect,
            "number of lines that must arrive, or `any` [the sum of the stream's `# lines: N`; "
            "`any` on a terminal]")
      .TypeName("COUNT");
  return {RunCheck, flags, {SchemaOf<CheckResult>}};
}

}  // namespace mmadiff
