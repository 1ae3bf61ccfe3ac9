#include "fuzz/report/run_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "device/plain_text.h"
#include "fuzz/folder/finding_text.h"
#include "fuzz/output/next_command.h"
#include "fuzz/output/numeric_order.h"
#include "fuzz/output/progress.h"

namespace mmadiff {
namespace {

double RowRate(const RunReportRow& row, int threads) {
  return row.total.seconds > 0
             ? static_cast<double>(row.total.dot_products) * threads / row.total.seconds
             : 0;
}

std::string Table(const RunReport& report, const TextStyle& style) {
  const bool narrow = style.width != kAnyWidth;
  TextTable table({{"instruction"},
                   {"cases", true, 3},
                   {"dot products", true, 2},
                   {"mismatching", true},
                   {"rate/s", true, 4},
                   {.title = narrow ? "mismatch rate, model" : "result", .drop = 1}});
  for (const RunReportRow& row : report.rows) {
    table.Add({row.instruction, absl::StrCat(row.total.cases), absl::StrCat(row.total.dot_products),
               absl::StrCat(row.total.mismatches),
               HumanCount(RowRate(row, report.attempt->threads)), Sentence(row, narrow)},
              row.total.mismatches > 0);
  }
  return table.Text(style);
}

std::string CasesText(const Finding& f) {
  return f.cases == 0 ? "from an earlier attempt" : CountText(f.cases, "mismatching case");
}

// Counts the rows that had too few cases overall (nothing was compared, or over a quarter of their
// bins are thin). Names the thin bins of the others, a line each for the first kRows rows.
std::string IncompleteNotes(const RunReport& report) {
  constexpr size_t kRows = 3, kNames = 4;
  std::string text;
  size_t few = 0, rows = 0;
  for (const RunReportRow* row : ThinRows(report)) {
    std::vector<std::string> names = row->thin_bins;
    if (row->total.dot_products == 0 || names.size() * 4 > row->total.coverage.size()) {
      ++few;
      continue;
    }
    for (const std::string& c : row->empty_classes) names.push_back("class " + c);
    if (++rows > kRows) continue;
    const size_t all = names.size();
    names.resize(std::min(all, kNames));
    absl::StrAppend(&text, "incomplete: ", row->instruction, " has too few cases for ", all,
                    all == 1 ? " situation" : " situations",
                    " in the arithmetic (bins): ", absl::StrJoin(names, ", "),
                    all > kNames ? absl::StrCat(" and ", all - kNames, " more") : "", "\n");
  }
  if (rows > kRows) {
    absl::StrAppend(&text, "incomplete: ", CountText(rows - kRows, "more instruction"),
                    " had too few cases for some situations (mmadiff report lists them)\n");
  }
  if (few > 0) {
    absl::StrAppend(&text,
                    "incomplete: ", CountText(few, rows > 0 ? "more instruction" : "instruction"),
                    " had too few cases for many situations in the arithmetic (bins)\n");
  }
  return text;
}

// Facts that the table does not show.
std::string Notes(const RunReport& report) {
  const RunReport::Attempt& attempt = *report.attempt;
  std::string text;
  for (const std::string& line : DroppedLines(report)) {
    absl::StrAppend(&text, "dropped:  ", line, "\n");
  }
  for (const std::string& line : report.distrusted) {
    absl::StrAppend(&text, "distrusted: ", line, " (in an earlier attempt)\n");
  }
  for (const Hardware& hardware : attempt.hardware) {
    absl::StrAppend(&text, "hardware: ", Name(hardware), "\n");
  }
  if (attempt.NothingExecuted()) {
    absl::StrAppend(&text, "note: all results are from earlier attempts (", attempt.resumed_units,
                    " of ", std::max(report.planned_units, attempt.resumed_units),
                    " units), no unit was executed\n");
  }
  if (attempt.repeated > 0) {
    absl::StrAppend(&text, "note: to check the device, ", attempt.repeated,
                    " dot products of earlier attempts were executed again, with the same "
                    "answers\n");
  }
  const auto emulated = std::ranges::count(report.rows, true, &RunReportRow::emulated);
  if (emulated > 0) {
    absl::StrAppend(&text, "note: ", CountOfText(emulated, report.rows.size(), "instruction"),
                    emulated == 1 ? " is" : " are",
                    " emulated: ptxas makes several machine instructions of ",
                    emulated == 1 ? "it" : "each", " (mmadiff list instructions --evidence)\n");
  }
  return text + IncompleteNotes(report);
}

// The verdict of a run without findings.
std::string CleanText(const RunReport& report) {
  uint64_t most = 0, planted = 0;
  for (const RunReportRow& row : report.rows) {
    most = std::max(most, row.process_dot_products);
    planted += !row.planted.empty();
  }
  std::string text = Sentence(report);
  if (report.total.mismatches > 0 || report.total.dot_products == 0) return text;
  if (planted > 0) {
    absl::StrAppend(
        &text, " In the self-test, a fault planted in the model of ",
        planted == report.rows.size() ? "each instruction" : CountText(planted, "instruction"),
        " was found.");
  }
  absl::StrAppend(&text,
                  " The rate of mismatches is below the bound in the table (95% confidence, for "
                  "inputs of this generator).");
  if (most > 0) {
    absl::StrAppend(&text, " No process of the device's program answered more than ", most,
                    " lines; faults that need more were not tested.");
  }
  return text;
}

// "differs", the instruction, and a line for each of its buckets. Only the first kMax buckets are
// printed, so that they fit on the last screen.
template <class Add>
void AddDifferences(const RunReport& report, const std::string& folder, const TextStyle& style,
                    Add add) {
  constexpr size_t kMax = 5;
  const auto mark = [&style](const std::string& text) {
    return style.color ? absl::StrCat(kMarkBegin, text, kMarkEnd) : text;
  };
  if (report.findings.empty()) {
    const std::string text = CleanText(report);
    add("verdict", report.total.mismatches > 0 ? mark(text) : text);
  }
  for (size_t i = 0; i < std::min(kMax, report.findings.size()); ++i) {
    const Finding& f = report.findings[i];
    const Finding* before = i == 0 ? nullptr : &report.findings[i - 1];
    if (before == nullptr || before->op != f.op || before->flaky() != f.flaky()) {
      add(f.flaky() ? "flaky" : "differs", mark(f.op));
    }
    add("", absl::StrCat(ShownName(f.bucket, f.reason), ", ", CasesText(f),
                         f.reports > 1 ? absl::StrCat(" in ", f.reports, " reports") : ""));
    if (report.findings.size() > 1) continue;
    const bool diagnosed = !OnlyReasonExplains(f.bucket, f.reason);
    if (diagnosed && !f.diagnosis.empty()) add("", f.diagnosis);
    if (!f.reason.empty()) add("reason", f.reason);
    for (const std::string& line : ClueLines(f.clues)) add("asked", line);
    if (!f.shared.empty()) add("shared", f.shared);
  }
  if (report.findings.size() > kMax) {
    add("", absl::StrCat("and ", report.findings.size() - kMax, " more in ", folder));
  }
}

std::string Stat(absl::string_view name, const absl::AlphaNum& value) {
  return absl::StrCat("stat::", name, ": ", value, "\n");
}

}  // namespace

std::string FormatReport(const RunReport& report) {
  std::string text = Table(report, {});
  for (const Finding& f : report.findings) {
    absl::StrAppend(&text,
                    f.flaky()                    ? "flaky:    "
                    : f.cases == 0 && !f.unfixed ? "fixed:    "
                                                 : "mismatch: ",
                    f.op, "  ", ShownName(f.bucket, f.reason), "  ", CasesText(f), "  ", f.path,
                    "\n");
  }
  text += Notes(report);
  if (report.findings.empty()) absl::StrAppend(&text, "verdict:  ", CleanText(report), "\n");
  return text;
}

std::string FormatStats(const RunReport& report) {
  const RunReport::Attempt& attempt = *report.attempt;
  const auto flaky = std::ranges::count_if(report.findings, &Finding::flaky);
  std::string text = absl::StrCat(
      Stat("cases", report.total.cases), Stat("dot_products", report.total.dot_products),
      Stat("mismatches", report.total.mismatches), Stat("flaky", flaky),
      Stat("buckets", report.findings.size()), Stat("dropped", DroppedLines(report).size()),
      Stat("seconds", absl::StrFormat("%.2f", attempt.seconds)),
      Stat("dot_products_per_second", absl::StrFormat("%.0f", attempt.DotProductsPerSecond())),
      Stat("resumed_units", attempt.resumed_units));
  if (!report.digest.empty()) text += Stat("digest", report.digest);
  for (const auto& [name, count] : InNumericOrder(report.total.counts)) text += Stat(name, count);
  return text;
}

std::string FormatScreen(const RunReport& report, const NextCommands& next,
                         const TextStyle& style) {
  std::string text = absl::StrCat(Table(report, style), Wrap(Notes(report), style.width, 2), "\n");
  const auto add = [&](const char* label, absl::string_view words) {
    text += Labelled(absl::StrFormat("%-9s", label), words, style.width);
  };
  add("ran", absl::StrCat(CountText(report.rows.size(), "instruction"), ", ",
                          HumanCount(static_cast<double>(report.total.cases)),
                          report.total.cases == 1 ? " case, " : " cases, ",
                          HumanCount(static_cast<double>(report.total.dot_products)),
                          " dot products; ", absl::StrFormat("%.1f s", report.attempt->seconds)));
  const std::string& workdir = report.folders.front();
  const std::string folder = workdir + "/findings";
  AddDifferences(report, folder, style, add);
  if (report.findings.empty()) {
    add("folder", workdir);
    if (report.total.mismatches > 0 || report.endless) return text;
    const bool finished = std::ranges::all_of(report.rows, &RunReportRow::finished);
    if (!finished && !DroppedLines(report).empty()) {
      add("next", "correct the cause of \"dropped\" above, then repeat:");
      return text + CommandLine("         ", next.again, style.width);
    }
    return text + CommandLine("next     ", finished ? next.longer : next.again, style.width);
  }
  const Finding& first = report.findings.front();
  const bool one = report.findings.size() == 1 && first.reports == 1;
  const size_t room = style.width - std::min<size_t>(style.width, 9);
  add("filed", one && !first.path.empty() ? FiledText(first, room) : folder);
  const bool flaky = std::ranges::all_of(report.findings, &Finding::flaky);
  const char* verb = flaky ? "replay" : "explain";
  if (one && first.path.empty()) return text;
  const std::string command = one ? CaseCommand(verb, first.path, room + 7)
                                  : absl::StrCat(Program(), " ", verb, " ", ShellWord(folder));
  return text + CommandLine("next     ", command + (flaky ? AskAgainFlag(first) : ""), style.width);
}

}  // namespace mmadiff
