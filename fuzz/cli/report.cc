// mmadiff report --compare: what differs between two runs or two recordings.
#include "absl/strings/str_cat.h"
#include "fuzz/cli/cli.h"
#include "fuzz/folder/compare_runs.h"
#include "fuzz/json_text.h"

namespace mmadiff {
namespace {

struct ReportFlags {
  std::vector<std::string> compare;
};

int CompareTwo(const ReportFlags& flags, const Globals& globals) {
  Console console = globals.MakeConsole();
  const auto difference = CompareFolders(flags.compare[0], flags.compare[1]);
  if (!difference.ok()) return Fail(difference.status());
  for (const std::string& what : difference->damage) console.Warn(what);
  console.Print(globals.json ? JsonText(difference->Json(), 1) + "\n"
                             : difference->Text(console.style().width));
  if (difference->answers.compared == 0 && difference->damage.empty()) {
    return Fail(absl::InternalError("the two have nothing in common; that is no pass"));
  }
  if (!difference->answers.rows.empty()) return kMismatch;
  return difference->damage.empty() ? kClean : kDamaged;
}

}  // namespace

std::function<int()> AddReport(CLI::App& command, const Globals& globals) {
  const auto flags = std::make_shared<ReportFlags>();
  command
      .add_option("--compare", flags->compare,
                  "two folders of runs, or two recordings: what differs?")
      ->expected(2)
      ->required()
      ->type_name("PATH");
  return [flags, &globals] { return CompareTwo(*flags, globals); };
}

}  // namespace mmadiff
