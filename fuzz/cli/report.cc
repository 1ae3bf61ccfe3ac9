// mmadiff report: writes the report of one or more runs from their folders, or compares two.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "fuzz/cli/cli.h"
#include "fuzz/cli/run_verdicts.h"
#include "fuzz/compare/compare_runs.h"
#include "fuzz/page/html_page.h"
#include "fuzz/page/plain_pages.h"
#include "fuzz/page/report_data.h"
#include "fuzz/page/report_fields.h"

namespace mmadiff {
namespace {

struct ReportFlags {
  std::vector<std::string> folders, compare;
  std::string out, junit;
  bool markdown = false, csv = false;
};

struct PageFormat {
  const char* ending;  // extension of --out
  std::string (*page)(const ReportData&);
};
constexpr PageFormat kPageFormats[] = {{".html", HtmlPage},
                                       {".md", MarkdownPage},
                                       {".json", JsonPage},
                                       {".csv", CsvPage},
                                       {".xml", JUnitPage}};

// The format selected by flags, else by the file's extension, else Markdown; nullptr for an unknown
// extension.
const PageFormat* FormatOf(const ReportFlags& flags, bool json) {
  const char* ending = flags.markdown ? ".md" : flags.csv ? ".csv" : nullptr;
  if (ending == nullptr && flags.out.empty()) ending = json ? ".json" : ".md";
  const auto asked = [&](const PageFormat& format) {
    return ending == nullptr ? absl::EndsWith(flags.out, format.ending)
                             : absl::string_view(format.ending) == ending;
  };
  const auto* format = std::ranges::find_if(kPageFormats, asked);
  return format == std::end(kPageFormats) ? nullptr : format;
}

void CompareTwo(const ReportFlags& flags, Call& call) {
  const auto difference = CompareFolders(flags.compare[0], flags.compare[1]);
  if (!difference.ok()) return call.Say(difference.status());
  for (const std::string& what : difference->damage) call.Say(Verdict::kHarmed, what);
  call.Print(*difference, [&] { return difference->Text(call.console.style().width); });
  if (!difference->answers.rows.empty()) call.Say(Verdict::kDiffers);
  if (difference->common == 0 && call.all().empty()) {
    call.Say(Verdict::kNothing, "the two have nothing in common; this is not a pass");
  }
}

void WriteReport(const ReportFlags& flags, Call& call) {
  if (flags.folders.empty() == flags.compare.empty()) {
    return call.Say(Verdict::kUsage, "name folders of runs, or use --compare A B");
  }
  if (!flags.compare.empty() &&
      !(flags.out.empty() && flags.junit.empty() && !flags.markdown && !flags.csv)) {
    return call.Say(Verdict::kUsage, "--compare only writes text or --json to stdout; redirect it");
  }
  if (!flags.compare.empty()) return CompareTwo(flags, call);
  const bool json = call.globals.json && flags.out.empty();
  if (flags.markdown + flags.csv + json > 1) {
    return call.Say(Verdict::kUsage, "use only one of --json, --markdown and --csv");
  }
  const PageFormat* format = FormatOf(flags, call.globals.json);
  if (format == nullptr) {
    return call.Say(
        Verdict::kUsage,
        absl::StrCat(
            "--out=", flags.out,
            ": the extension must be .html, .md, .json, .csv or .xml; or use --markdown or --csv"));
  }
  const absl::StatusOr<ReportData> data = GatherReport({flags.folders}, call.console);
  if (!data.ok()) return call.Say(data.status());
  const PageFormat junit = {".xml", JUnitPage};
  const std::pair<std::string, const PageFormat*> files[] = {{flags.out, format},
                                                             {flags.junit, &junit}};
  for (const auto& [path, of] : files) {
    if (path.empty()) continue;
    if (absl::Status s = WriteFileDurably(path, of->page(*data)); !s.ok()) {
      return call.Say(s, Verdict::kNotWritten);
    }
  }
  for (const std::string& line : data->not_read) call.console.Warn(line);
  for (const ReportRun& run : data->runs) {
    for (const std::string& what : run.damage) call.console.Warn(what);
    if (!flags.out.empty() && !call.globals.json) {
      call.console.Print(absl::StrCat(run.manifest.device, ": ", Sentence(run), "\n"));
    }
  }
  if (call.globals.json) {
    call.console.Print(JsonPage(*data));
  } else if (flags.out.empty()) {
    call.console.Print(format->page(*data));
  }
  if (data->Damaged()) call.Say(Verdict::kHarmed);
  for (const ReportRun& run : data->runs) SayDoubts(run, call);
  const auto nothing = [](const ReportRun& run) {
    return run.total.dot_products == 0 && run.Count(RunReportRow::kDiffers) == 0;
  };
  if (std::ranges::any_of(data->runs, nothing) && call.all().empty()) {
    call.Say(Verdict::kNothing, "a run compared nothing; this is not a pass");
  }
}

}  // namespace

Action AddReport(CLI::App& command) {
  const auto flags = std::make_shared<ReportFlags>();
  AddOption(
      command, "folder", flags->folders,
      "folders of runs; the shards of one run are summed, different runs are reported separately");
  AddOption(command, "--compare", flags->compare,
            "compare two folders of runs, or two recordings: --compare A B")
      .Expected(2)
      .TypeName("PATH");
  AddOption(command, "--out", flags->out,
            "output file; its extension selects the format: .html .md .json .csv .xml (JUnit)")
      .TypeName("FILE");
  AddFlag(command, "--markdown", flags->markdown, "write Markdown; the default without --out");
  AddFlag(command, "--csv", flags->csv, "write CSV, one row per instruction");
  AddOption(command, "--junit", flags->junit, "file for a JUnit report").TypeName("FILE");
  return {WriteReport, flags, {SchemaOf<ReportData>, {SchemaOf<RunsDifference>, "--compare"}}};
}

}  // namespace mmadiff
