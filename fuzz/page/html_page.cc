#include "fuzz/page/html_page.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "corpus/utc_time.h"
#include "fuzz/folder/finding_text.h"
#include "fuzz/output/html.h"
#include "fuzz/output/progress.h"
#include "fuzz/page/html_charts.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxOpenRows = 60;  // maximum rows of a table that is not folded
constexpr size_t kFewRows = 12;      // so few rows are never folded
constexpr size_t kMaxNamed = 6;      // bins, classes

struct KindText {
  const char* tag;  // tag of the row
  const char* css;
};

KindText TextOf(RunReportRow::State kind) {
  switch (kind) {
    case RunReportRow::kDiffers:
      return {"differs", "bad"};
    case RunReportRow::kUnrepeated:
      return {"does not repeat", "warn"};
    case RunReportRow::kDropped:
      return {"dropped", "warn"};
    case RunReportRow::kIncomplete:
      return {"incomplete", "warn"};
    case RunReportRow::kNothing:
      return {"nothing compared", "warn"};
    case RunReportRow::kAgrees:
      return {"agrees", "good"};
  }
  return {"", ""};
}

std::string Some(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kMaxNamed);
  std::string text = absl::StrJoin(names.begin(), names.begin() + static_cast<long>(shown), ", ");
  if (shown < names.size()) absl::StrAppend(&text, " and ", names.size() - shown, " more");
  return text;
}

std::string VerdictCard(const ReportRun& run) {
  const RunReportRow::State worst =
      run.rows.empty() ? RunReportRow::kNothing : run.rows.front().state;
  const bool trusted =
      run.distrusted.empty() && run.damage.empty() && std::ranges::none_of(run.rows, IsDoubted);
  const bool fixed =
      !run.findings.empty() && std::ranges::all_of(run.findings, [](const Finding& f) {
        return f.state == FindingState::kFixed;
      });
  const bool warns = worst == RunReportRow::kAgrees ? !trusted : fixed;
  const char* css = warns ? "warn" : TextOf(worst).css;
  std::string why;
  const std::vector<FindingGroup> groups = GroupFindings(run);
  if (!groups.empty() && !Sentence(groups.front(), run).empty()) {
    why = Sentence(groups.front(), run) + ".";
  } else if (!groups.empty()) {
    const Finding& first = run.explained.front().finding;
    why = absl::StrCat(run.explained.size(),
                       run.explained.size() == 1 ? " finding: " : " findings, the first: ",
                       ShownName(first.bucket, first.reason), " of ", first.op);
  } else if (worst == RunReportRow::kAgrees || worst == RunReportRow::kIncomplete) {
    why =
        "The rate of mismatches is below the bound of each instruction (95%, for this generator); "
        "it may not be zero.";
  }
  const std::string stopped = StoppedText(run);
  return absl::StrCat("<div class=\"card verdict ", css, "\"><p>", Html(Sentence(run)), "</p>",
                      stopped.empty() ? "" : HtmlTag("p", "why", Html(stopped + ".")),
                      why.empty() ? "" : HtmlTag("p", "why", Html(why)),
                      fixed ? HtmlTag("p", "why", "All findings have been fixed since.") : "",
                      "</div>\n");
}

std::string Tiles(const ReportRun& run) {
  return HtmlTiles({{"instructions", run.rows.size()},
                    {"cases", run.total.cases},
                    {"dot products", run.total.dot_products},
                    {run.at_least ? "mismatches (at least)" : "mismatches", run.total.mismatches},
                    {"findings", run.explained.size()}});
}

std::string Facts(const ReportRun& run) {
  const RunManifest& m = run.manifest;
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](const char* what, std::string value) {
    facts.emplace_back(what, std::move(value));
  };
  add("Device",
      absl::StrCat(m.device, m.device_identity.empty() ? "" : ": ", Name(m.device_identity)));
  add("Machines", absl::StrJoin(run.machines, "; "));
  add("When", run.rate.end == 0
                  ? "unknown"
                  : absl::StrCat(UtcTime(run.rate.begin), " to ", UtcTime(run.rate.end)));
  add("Generator",
      absl::StrCat("version ", m.generator_version, ", seed ", m.seed, ", strategy ", m.strategy));
  add("Program", absl::StrCat("mmadiff ", m.tool_version, ", model version ", m.model_version));
  add("Units", run.endless ? absl::StrCat(run.units, ", endless run")
                           : absl::StrCat(run.units, " of ", run.planned_units));
  if (run.shards > 1) {
    add("Shards", absl::StrCat(absl::StrJoin(run.seen, ", "), " of ", run.shards));
  }
  add("Folders", absl::StrJoin(run.folders, ", "));
  add("Digest", run.digest);
  for (const std::string& line : DroppedLines(run)) add("Dropped", line);
  for (const std::string& line : run.distrusted) add("Distrusted", line);
  for (const std::string& line : run.damage) add("Damaged", line);
  for (const LeftOutLine& line : m.left_out) add("Left out", Text(line));
  return HtmlFacts(facts);
}

struct ThinNames {
  std::vector<std::string> none, few;  // bins that no dot product reached; that some did
};

ThinNames ThinNamesOf(const RunReportRow& row) {
  ThinNames names;
  const std::vector<Bin> bins = row.op == nullptr ? std::vector<Bin>() : BinsOf(row.op->model);
  for (const std::string& name : row.thin_bins) {
    const size_t bin = std::ranges::find(bins, name, &Bin::name) - bins.begin();
    const bool reached = bin < row.total.coverage.size() && row.total.coverage[bin] > 0;
    (reached ? names.few : names.none).push_back(name);
  }
  return names;
}

std::vector<std::string> Cells(const RunReportRow& row) {
  const KindText kind = TextOf(row.state);
  std::string notes;
  const auto note = [&](const std::string& text) {
    absl::StrAppend(&notes, "<div class=\"soft\">", Html(text), "</div>");
  };
  if (row.emulated) note("emulated on this device");
  if (!row.empty_classes.empty()) note("no case of class " + Some(row.empty_classes));
  const ThinNames thin = ThinNamesOf(row);
  if (!thin.none.empty()) note("never reached: " + Some(thin.none));
  if (!thin.few.empty()) note("too few cases: " + Some(thin.few));
  std::string cases = HtmlNumber(row.total.cases);
  if (!row.finished && row.planned_cases > 0) {
    cases = absl::StrCat("<span>", cases, " <span class=\"soft\">of ",
                         HtmlNumber(row.planned_cases), "</span></span>");
  }
  return {absl::StrCat("<span class=\"name\">", HtmlName(row.instruction), "</span>", notes),
          absl::StrCat("<span class=\"tag ", kind.css, "\" title=\"", Html(Sentence(row)), "\">",
                       kind.tag, "</span>"),
          cases,
          HtmlNumber(row.total.dot_products),
          absl::StrCat(row.at_least ? "&ge;&#8239;" : "", HtmlNumber(row.total.mismatches)),
          row.bound > 0 ? absl::StrFormat("&lt;&#8239;%.1e", row.bound) : "&ndash;",
          Html(row.op == nullptr ? "none" : row.Grade())};
}

std::string RowsTable(const std::vector<const RunReportRow*>& rows) {
  std::vector<std::vector<std::string>> cells;
  for (const RunReportRow* row : rows) cells.push_back(Cells(*row));
  return HtmlTable("",
                   {{"instruction"},
                    {"verdict"},
                    {"cases", true},
                    {"dot products", true},
                    {"mismatches", true},
                    {"3/N", true},
                    {"model"}},
                   cells, "stack");
}

std::string Rows(const ReportRun& run) {
  std::vector<const RunReportRow*> open, folded;
  for (const RunReportRow& row : run.rows) {
    const bool few = run.rows.size() <= kFewRows;
    const bool worth = row.state != RunReportRow::kAgrees && open.size() < kMaxOpenRows;
    (few || worth ? open : folded).push_back(&row);
  }
  std::string html =
      "<h2>Instructions <small>3/N: upper bound for the rate of mismatches (95%, for this "
      "generator)</small></h2>\n<div class=\"card\">\n";
  if (!open.empty()) html += RowsTable(open);
  if (!folded.empty()) {
    absl::StrAppend(&html, "<details><summary>",
                    open.empty()                                     ? "All "
                    : folded.front()->state == RunReportRow::kAgrees ? ""
                                                                     : "The other ",
                    folded.size(),
                    folded.front()->state == RunReportRow::kAgrees ? " instructions that agree"
                                                                   : " instructions",
                    "</summary>\n", RowsTable(folded), "</details>\n");
  }
  return html + "</div>\n";
}

std::string Stages(const ReportFinding& f) {
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\"><table class=\"stages\"><thead><tr><th "
      "scope=\"col\">stage</th>";
  for (const std::string& column : f.columns) {
    absl::StrAppend(&html, "<th scope=\"col\">", Html(column), "</th>");
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const StageLine& line : f.stages) {
    html += line.parts ? "<tr class=\"parts\">" : "<tr>";
    for (const std::string& cell : line.cells) html += HtmlTag("td", "", Html(cell));
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

// Lines of equal width as narrow blocks, between which a browser may break all lines together.
std::string BitBlocks(const std::string& text) {
  constexpr size_t kColumns = 8;
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, line.size());
  std::string html = "<div class=\"bits\">";
  for (size_t begin = 0; begin < width; begin += kColumns) {
    std::string block;
    for (const std::string& line : lines) {
      absl::StrAppend(&block, line.size() > begin ? line.substr(begin, kColumns) : " ", "\n");
    }
    html += HtmlTag("span", "", Html(block));
  }
  return html + "</div>";
}

std::string FindingInside(const ReportFinding& f) {
  const Finding& finding = f.finding;
  std::string html;
  const bool diagnosed = f.diagnosed();
  if (diagnosed && !f.diagnosis.empty()) {
    absl::StrAppend(&html, "<p>", Html(f.diagnosis), "</p>\n");
  }
  if (!finding.why.empty()) absl::StrAppend(&html, "<p>Note: ", Html(finding.why), "</p>\n");
  if (!finding.reason.empty()) {
    absl::StrAppend(&html, "<p>Reason: ", Html(finding.reason), "</p>\n");
  }
  for (const std::string& line : ClueLines(finding.clues)) {
    absl::StrAppend(&html, "<p>Asked: ", Html(line), "</p>\n");
  }
  if (!finding.shared.empty()) {
    absl::StrAppend(&html, "<p>Shared: ", Html(finding.shared), "</p>\n");
  }
  if (!f.typical.empty()) {
    absl::StrAppend(&html, "<p>Ordinary numbers also give different results: ", Html(f.typical),
                    "</p>\n");
  }
  if (!f.minimal.empty()) {
    absl::StrAppend(&html, "<div class=\"pair\"><div><div class=\"label\">",
                    f.tile ? "Smallest case found" : "Minimal case", "</div><pre>", Html(f.minimal),
                    "</pre></div>\n");
    if (!f.difference.empty()) {
      absl::StrAppend(&html, "<div><div class=\"label\">Result</div>",
                      f.bits.empty() ? "" : BitBlocks(f.bits), "<pre>",
                      Html(f.bits.empty() ? f.difference : f.values), "</pre></div>");
    }
    html += "</div>\n";
  }
  if (diagnosed && !f.stages.empty()) {
    absl::StrAppend(
        &html, "<div class=\"label\">Stages of the model",
        f.columns.size() > 1 ? " and of the change that reproduces the device's answer" : "",
        "</div>", Stages(f));
  }
  absl::StrAppend(&html, "<p class=\"soft\">First case <span class=\"mono\">",
                  HtmlName(finding.case_name), "</span>, ",
                  CountText(finding.beside.size() + 1, "case"), " filed, ", Name(finding.state),
                  "</p>\n", HtmlCommand(f.command));
  return html;
}

std::string FindingCard(const ReportFinding& f) {
  const Finding& finding = f.finding;
  return absl::StrCat("<article class=\"card finding\"><header><h3>",
                      HtmlName(ShownName(finding.bucket, finding.reason)), "</h3>",
                      finding.flaky() ? "<span class=\"tag warn\">does not repeat</span>" : "",
                      "<span class=\"mono\">", HtmlName(finding.op), "</span></header>\n",
                      FindingInside(f), "</article>\n");
}

// One change for several instructions; each finding is folded.
std::string GroupCard(const FindingGroup& group, const ReportRun& run) {
  std::string html = absl::StrCat("<article class=\"card finding\"><header><h3>",
                                  Html(Sentence(group, run)), "</h3></header>\n");
  for (const size_t i : group.findings) {
    const ReportFinding& f = run.explained[i];
    absl::StrAppend(&html, i == group.findings.front() ? "<details open>" : "<details>",
                    "<summary><span class=\"mono\">", HtmlName(f.finding.op), "</span></summary>\n",
                    FindingInside(f), "</details>\n");
  }
  return html + "</article>\n";
}

std::string FindingsPart(const ReportRun& run) {
  if (run.explained.empty()) return "";
  std::string html = absl::StrCat("<h2>Findings <small>", run.explained.size(), "</small></h2>\n");
  for (const FindingGroup& group : GroupFindings(run)) {
    if (!Sentence(group, run).empty()) {
      html += GroupCard(group, run);
      continue;
    }
    for (const size_t i : group.findings) html += FindingCard(run.explained[i]);
  }
  return html;
}

std::string Coverage(const ReportRun& run) {
  std::string html = "<h2>Coverage</h2>\n<div class=\"card\">\n";
  if (run.crosses.empty()) {
    return html +
           "<p class=\"soft\">This run did not examine the stages of any dot product.</p></div>\n";
  }
  html +=
      "<ul class=\"legend\"><li><span class=\"key h\"></span>dot products, few to "
      "many</li><li><span class=\"key few\"></span>too few in some instruction</li><li><span "
      "class=\"key none\"></span>not reached in any instruction</li><li><span class=\"key "
      "u\"></span>cannot be reached</li></ul>\n<div class=\"crosses\">\n";
  for (const Cross& cross : run.crosses) html += CrossChart(cross);
  return html + "</div></div>\n";
}

std::string Charts(const ReportRun& run) {
  const std::string ulps = UlpChart(run), rate = RateChart(run.rate);
  std::string html = "<h2>Differences and rate</h2>\n<div class=\"columns\">\n";
  absl::StrAppend(&html, "<div class=\"card\">\n<h4>Distance from the model in ulps</h4>\n",
                  !ulps.empty()               ? ulps
                  : run.total.mismatches == 0 ? "<p class=\"soft\">No word differs.</p>"
                                              : "<p class=\"soft\">Not counted by this run.</p>",
                  "</div>\n<div class=\"card\">\n<h4>Rate over time</h4>\n",
                  rate.empty() ? "<p class=\"soft\">No unit has its end time stored.</p>" : rate,
                  "</div></div>\n");
  return html;
}

std::string MutantsPart(const ReportMutants& mutants) {
  if (mutants.models == 0) return "";
  std::string html =
      absl::StrCat("<h2>Faults that this generator would miss</h2>\n<div class=\"card\">\n<p>",
                   mutants.survivors.size(), " of ", CountText(mutants.mutants, "fault"),
                   " (changed parameters) planted in the model. A fault is missed if the first ",
                   CountText(mutants.cases, "generated case"), " do not reveal it. Tried for ",
                   mutants.models, " out of ", mutants.of_models,
                   mutants.of_models == 1 ? " model" : " models", " in this run.</p>\n");
  if (!mutants.survivors.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [op, change] : mutants.survivors) {
      rows.push_back(
          {HtmlTag("span", "name", HtmlName(op)), HtmlTag("span", "name", HtmlName(change))});
    }
    html += HtmlTable("", {{"instruction"}, {"change"}}, rows);
  }
  return html + "</div>\n";
}

std::string RunHtml(const ReportRun& run, const char* heading, const std::string& title) {
  return absl::StrCat("<section>\n<", heading, ">", Html(title), " <small>",
                      Html(run.manifest.device), "</small></", heading, ">\n", VerdictCard(run),
                      Tiles(run), Facts(run), Rows(run), FindingsPart(run), Coverage(run),
                      Charts(run), MutantsPart(run.mutants), "</section>\n");
}

}  // namespace

std::string HtmlPage(const ReportData& data) {
  std::string body;
  for (const std::string& line : data.not_read) {
    absl::StrAppend(&body, "<div class=\"card verdict warn\"><p>", Html(line), "</p></div>\n");
  }
  if (data.runs.size() > 1) {
    absl::StrAppend(&body, "<h1>", data.runs.size(), " runs</h1>\n<div class=\"card\">\n");
    std::vector<std::vector<std::string>> rows;
    for (size_t i = 0; i < data.runs.size(); ++i) {
      const ReportRun& run = data.runs[i];
      rows.push_back(
          {absl::StrCat("<a href=\"#run", i + 1, "\">", Html(run.manifest.device), "</a>"),
           Html(Sentence(run)), HtmlNumber(run.total.dot_products),
           HtmlNumber(run.total.mismatches)});
    }
    absl::StrAppend(
        &body,
        HtmlTable("", {{"device"}, {"verdict"}, {"dot products", true}, {"mismatches", true}},
                  rows),
        "</div>\n");
  }
  for (size_t i = 0; i < data.runs.size(); ++i) {
    const ReportRun& run = data.runs[i];
    const std::string identity = Name(run.manifest.device_identity);
    absl::StrAppend(&body, "<div id=\"run", i + 1, "\">",
                    RunHtml(run, "h1", identity.empty() ? "A run" : identity), "</div>\n");
  }
  return HtmlDocument(data.runs.size() == 1 ? Sentence(data.runs.front()) : "report", body);
}

}  // namespace mmadiff
