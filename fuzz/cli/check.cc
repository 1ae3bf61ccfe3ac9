// mmadiff check: the verdict on results from anywhere.
#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/protocol.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

struct CheckFlags {
  std::string row;
  uint64_t errors = 20;
};

int RunCheck(const CheckFlags& flags, const Globals& globals) {
  const absl::StatusOr<const Row*> row = OneRow(flags.row);
  if (!row.ok()) return Fail(row.status());
  const Instruction& instruction = *(*row)->instruction;
  Console console = globals.MakeConsole();
  uint64_t lines = 0, differing = 0;
  const auto compare = [&](const Portion& portion) {
    const auto [model, different] = Compare(**row, portion.batch, portion.d);
    lines += model.size();
    for (const int64_t i : different) {
      if (differing++ >= flags.errors) continue;
      console.Print(absl::StrCat(
          "line ", portion.line[i], ": ",
          FormatLine(instruction, Extract(portion.batch, i), portion.d[i]), "\n",
          DescribeDifference(*instruction.d, model[i], portion.d[i], console.color())));
    }
    return absl::OkStatus();
  };
  const absl::Status status = ReadStdin(**row, true, compare);
  console.Print(absl::StrCat(flags.row, ": ", lines - differing, " of ", lines, " equal\n"));
  if (!status.ok()) return Fail(status);
  if (lines == 0) return Fail(absl::InternalError("nothing was compared; that is no pass"));
  return differing == 0 ? kClean : kMismatch;
}

}  // namespace

std::function<int()> AddCheck(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<CheckFlags>();
  command.add_option("instruction", flags->row, "ARCH/INSTRUCTION")->required();
  command.add_option("--errors", flags->errors, "differing lines to print [20]")
      ->transform(Count());
  return [flags, &globals] { return RunCheck(*flags, globals); };
}

}  // namespace mmadiff
