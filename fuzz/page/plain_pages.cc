#include "fuzz/page/plain_pages.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "corpus/utc_time.h"
#include "device/plain_text.h"
#include "fuzz/folder/finding_text.h"
#include "fuzz/output/junit.h"
#include "fuzz/output/progress.h"
#include "fuzz/page/report_fields.h"
#include "fuzz/report/run_text.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxRows = 40;  // maximum agreeing rows in Markdown

std::string Cell(absl::string_view text) {
  return absl::StrReplaceAll(PlainLine(text), {{"|", "\\|"}});
}

// Lines verbatim.
std::string Block(absl::string_view text) {
  return absl::StrCat("```\n", PlainText(text), absl::EndsWith(text, "\n") ? "" : "\n", "```\n");
}

std::string TableLine(const std::vector<std::string>& cells, const char* mark) {
  const auto add = [](std::string* line, const std::string& cell) { *line += Cell(cell); };
  return absl::StrCat("| ", absl::StrJoin(cells, " | ", add), mark, " |\n");
}

std::string RowLine(const RunReportRow& row) {
  const std::string of =
      row.finished || row.planned_cases == 0 ? "" : absl::StrCat(" of ", row.planned_cases);
  return absl::StrCat("| ", Cell(row.instruction), row.emulated ? " (emulated)" : "", " | ",
                      row.total.cases, of, " | ", row.total.dot_products, " | ",
                      row.at_least ? "at least " : "", row.total.mismatches, " | ",
                      Cell(Sentence(row)), " |\n");
}

void AddRows(const ReportRun& run, std::string& page) {
  page +=
      "\n| instruction | cases | dot products | mismatches | verdict |\n|---|---:|---:|---:|---|\n";
  size_t agree = 0;
  for (const RunReportRow& row : run.rows) {
    if (row.state != RunReportRow::kAgrees || agree++ < kMaxRows) page += RowLine(row);
  }
  if (agree > kMaxRows) absl::StrAppend(&page, "\nAnd ", agree - kMaxRows, " that agree.\n");
}

void AddFinding(const ReportFinding& f, std::string& page) {
  const std::string diagnosis = f.diagnosed() ? f.diagnosis : "";
  absl::StrAppend(
      &page, "\n### ", Cell(ShownName(f.finding.bucket, f.finding.reason)), "\n\n",
      Cell(f.finding.op), ", ", CountText(f.finding.beside.size() + 1, "case"),
      " filed; state: ", Name(f.finding.state), ".", diagnosis.empty() ? "" : " ", Cell(diagnosis),
      diagnosis.empty() ? "" : ".", f.finding.why.empty() ? "" : " Note: ", Cell(f.finding.why),
      f.finding.reason.empty() ? "" : " Reason: ", Cell(f.finding.reason),
      f.finding.clues.empty() ? "" : " Asked: ",
      Cell(absl::StrJoin(ClueLines(f.finding.clues), ". ")),
      f.finding.shared.empty() ? "" : " Shared: ", Cell(f.finding.shared),
      f.typical.empty() ? "" : " Ordinary numbers also give different results: ", f.typical,
      f.typical.empty() ? "" : ".", "\n\n");
  if (!f.minimal.empty()) page += Block(f.minimal + f.difference);
  if (f.diagnosed() && !f.stages.empty()) {
    std::vector<std::string> titles = {"stage"};
    titles.insert(titles.end(), f.columns.begin(), f.columns.end());
    absl::StrAppend(&page, "\n", TableLine(titles, ""));
    for (size_t i = 0; i < titles.size(); ++i) page += "|---";
    page += "|\n";
    for (const StageLine& line : f.stages) page += TableLine(line.cells, line.parts ? " <--" : "");
  }
  absl::StrAppend(&page, "\n", Block(f.command));
}

void AddRun(const ReportRun& run, std::string& page) {
  const RunManifest& m = run.manifest;
  const auto fact = [&](const char* what, const std::string& value) {
    if (!value.empty()) absl::StrAppend(&page, "* ", what, ": ", PlainLine(value), "\n");
  };
  absl::StrAppend(&page, "# ", PlainLine(m.device), "\n\n**", PlainLine(Sentence(run)), "**\n\n");
  fact("device", Name(m.device_identity));
  fact("machines", absl::StrJoin(run.machines, "; "));
  if (run.rate.end != 0) {
    fact("when", absl::StrCat(UtcTime(run.rate.begin), " to ", UtcTime(run.rate.end)));
  }
  fact("generator",
       absl::StrCat("version ", m.generator_version, ", seed ", m.seed, ", strategy ", m.strategy));
  fact("program", absl::StrCat(m.tool_version, ", model version ", m.model_version));
  fact("finished units (ranges of cases)",
       absl::StrCat(run.units, run.endless ? "" : absl::StrCat(" of ", run.planned_units)));
  if (run.shards > 1) {
    fact("shards", absl::StrCat(absl::StrJoin(run.seen, ", "), " of ", run.shards));
  }
  fact("total", absl::StrCat(CountText(run.total.cases, "case"), ", ",
                             CountText(run.total.dot_products, "dot product"), ", ",
                             MismatchesText(run.total.mismatches, run.at_least)));
  fact("stopped", StoppedText(run));
  fact("digest", run.digest);
  for (const std::string& line : DroppedLines(run)) fact("dropped", line);
  for (const std::string& line : run.distrusted) fact("distrusted", line);
  for (const std::string& line : run.damage) fact("damaged", line);
  for (const LeftOutLine& line : m.left_out) fact("left out", Text(line));
  AddRows(run, page);
  if (!run.explained.empty()) page += "\n## Findings\n";
  for (const FindingGroup& group : GroupFindings(run)) {
    const std::string sentence = Sentence(group, run);
    if (!sentence.empty()) absl::StrAppend(&page, "\n", Cell(sentence), ".\n");
    const bool one = !sentence.empty();  // one change: only its first finding is shown
    for (const size_t i : group.findings) {
      const ReportFinding& f = run.explained[i];
      if (!one || i == group.findings.front()) {
        AddFinding(f, page);
      } else {
        absl::StrAppend(&page, "* ", Cell(f.finding.op), ": `", f.command, "`\n");
      }
    }
  }
  if (!run.crosses.empty()) {
    page +=
        "\n## Coverage\n\nSituations in the arithmetic (bins) that had enough cases:\n\n"
        "| group of bins | with enough cases | all |\n|---|---:|---:|\n";
  }
  for (const Cross& cross : run.crosses) {
    const CrossTotals totals = TotalsOf(cross);
    absl::StrAppend(&page, "| ", Cell(cross.group), " | ", totals.reachable - totals.missing, " | ",
                    totals.reachable, " |\n");
  }
  if (!run.ulps.empty()) {
    page +=
        "\n## Distance between the device's results and the model's\n\n| ulps | results |\n"
        "|---:|---:|\n";
  }
  for (const auto& [bucket, count] : run.ulps) {
    absl::StrAppend(&page, "| ", bucket, " | ", count, " |\n");
  }
  const ReportMutants& tried = run.mutants;
  if (tried.models == 0) return;
  absl::StrAppend(&page, "\n## Faults that this generator would miss\n\n", tried.survivors.size(),
                  " of ", CountText(tried.mutants, "fault"),
                  " (changed parameters) planted in the model. A fault is missed if the first ",
                  CountText(tried.cases, "generated case"), " do not reveal it. Tried for ",
                  tried.models, " out of ", CountText(tried.of_models, "model"), " in this run.\n");
  for (const auto& [op, change] : tried.survivors) {
    absl::StrAppend(&page, "* ", op, ": ", change, "\n");
  }
}

}  // namespace

std::string MarkdownPage(const ReportData& data) {
  std::string page;
  for (const ReportRun& run : data.runs) {
    if (!page.empty()) page += "\n";
    AddRun(run, page);
  }
  if (!data.not_read.empty()) page += "\n## Not read\n\n";
  for (const std::string& line : data.not_read) {
    absl::StrAppend(&page, "* ", PlainLine(line), "\n");
  }
  return page;
}

std::string JsonPage(const ReportData& data) { return JsonText(JsonOf(data), 1) + "\n"; }

std::string CsvPage(const ReportData& data) {
  const Schema schema = SchemaOf<RowOfRun>();
  std::string page = CsvHead(schema);
  for (const ReportRun& run : data.runs) {
    for (const RunReportRow& row : run.rows) page += CsvLine(schema, JsonOf(RowOfRun{run, row}));
  }
  return page;
}

std::string JUnitPage(const ReportData& data) {
  std::vector<TestResult> results;
  for (const ReportRun& run : data.runs) {
    for (const RunReportRow& row : run.rows) {
      if (run.IsOfOtherShards(row)) {
        results.push_back({.name = absl::StrCat(run.manifest.device, " ", row.instruction),
                           .failure = "",
                           .skipped = "no unit in these shards"});
        continue;
      }
      const bool asked = row.total.dot_products > 0;
      const bool fails = !asked || !row.dropped.ok() || row.state == RunReportRow::kDiffers ||
                         row.state == RunReportRow::kUnrepeated || !(row.finished || run.endless);
      const std::string counts = asked ? absl::StrCat(row.total.mismatches, " of ",
                                                      row.total.dot_products, " words differ: ")
                                       : "";
      results.push_back({absl::StrCat(run.manifest.device, " ", row.instruction),
                         fails ? absl::StrCat(counts, Sentence(row), row.dropped.ok() ? "" : ": ",
                                              row.dropped.message())
                               : "",
                         Name(row.state)});
    }
    const bool whole =
        run.endless || (run.units == run.planned_units && run.seen.size() == run.shards);
    const bool trusted =
        run.distrusted.empty() && run.damage.empty() && std::ranges::none_of(run.rows, IsDoubted);
    std::string failure = whole && trusted ? "" : Sentence(run);
    if (!whole)
      absl::StrAppend(&failure, " ", run.units, " of ", run.planned_units, " units are finished.");
    std::ranges::move(TestResultsOf(run.manifest.left_out, run.manifest.device),
                      std::back_inserter(results));
    results.push_back({run.manifest.device + " whole run", failure,
                       !run.damage.empty() ? "damaged"
                       : !trusted          ? "distrusted"
                                           : "incomplete"});
  }
  return JUnit("report", results);
}

}  // namespace mmadiff
