#include "fuzz/survey/html_page.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fuzz/output/html.h"
#include "fuzz/output/progress.h"
#include "fuzz/survey/row_text.h"

namespace mmadiff {
namespace {

constexpr size_t kFewRows = 12;  // a table of at most this many rows is not folded

struct Verdict {
  const char* css;
  std::string text;
};

Verdict VerdictOf(const SurveySummary& summary, size_t missing) {
  if (summary.changed > 0) {
    return {"bad", absl::StrCat("The device contradicts the tables: ",
                                CountText(summary.changed, "contradiction"))};
  }
  if (summary.troubled > 0) {
    return {"warn", absl::StrCat(CountText(summary.troubled, "row"),
                                 " that trap, fail, do not repeat or have a different layout")};
  }
  if (!summary.HasModel()) return {"warn", "Nothing was compared: no row has a model"};
  if (missing > 0) {
    return {"warn", absl::StrCat("No answer differs from the tables; ", CountText(missing, "task"),
                                 " not reached")};
  }
  return {"good", "No answer differs from the tables"};
}

std::string VerdictCard(const SurveySummary& summary, size_t missing) {
  const Verdict verdict = VerdictOf(summary, missing);
  return absl::StrCat(
      "<div class=\"card verdict ", verdict.css, "\">", HtmlTag("p", "", Html(verdict.text)),
      summary.outcome->running
          ? HtmlTag("p", "why", "The survey was running when this page was written.")
          : "",
      "</div>\n");
}

std::string ContradictionCard(const SurveyContradiction& c) {
  const std::string name = c.variant.empty() ? c.op : c.op + " with " + c.variant.substr(1);
  std::string html = "<article class=\"card finding\"><header>";
  if (c.finding != nullptr) html += HtmlTag("h3", "", HtmlName(Name(c.finding->bucket)));
  html += HtmlTag(c.finding == nullptr ? "h3" : "span", c.finding == nullptr ? "" : "mono",
                  HtmlName(name));
  absl::StrAppend(&html, "</header>\n", HtmlTag("p", "", Html(c.what)), "\n");
  if (!c.others.empty()) {
    html += HtmlTag(
        "p", "", absl::StrCat("The same holds for ", CountText(c.others.size(), "variant"), "."));
  }
  if (c.finding != nullptr && !c.finding->cases.empty()) {
    const SurveyFinding::Case& minimal = c.finding->cases.front();
    absl::StrAppend(&html,
                    HtmlTag("p", "",
                            "Smallest case: the model gives " + Html(minimal.model) +
                                "; the quoted line ends with the device's answer."),
                    "\n", HtmlCommand(CheckCommand(c)));
  }
  return html + "</article>\n";
}

bool IsQuiet(const SurveyRow& row) {
  return row.modelled && row.troubles.empty() && row.lines_differing == 0 && row.mismatches == 0 &&
         std::ranges::all_of(row.answers, [](const SurveyAnswer& a) {
           return a.agreement != Agreement::kContradicts;
         });
}

std::string RowsTable(const std::vector<const SurveyRow*>& rows) {
  std::vector<std::vector<std::string>> cells;
  for (const SurveyRow* row : rows) {
    const std::string emulated =
        row->emulated ? HtmlTag("div", "soft", "emulated on this device") : "";
    cells.push_back({HtmlTag("span", "name", HtmlName(row->Name())) + emulated,
                     Html(LayoutText(*row)), Html(row->repeat), Html(AnswersText(*row)),
                     Html(VectorsText(*row)), Html(VolumeText(*row)), Html(RateText(*row)),
                     Html(row->recorded)});
  }
  return HtmlTable("",
                   {{"row"},
                    {"layout"},
                    {"repeats"},
                    {"questions"},
                    {"vectors"},
                    {"run, dot products"},
                    {"per second", true},
                    {"recorded"}},
                   cells, "stack");
}

std::string Rows(const SurveySummary& summary) {
  std::vector<const SurveyRow*> open, folded;
  for (const SurveyRow& row : summary.rows) {
    const bool few = summary.rows.size() <= kFewRows;
    (few || !IsQuiet(row) ? open : folded).push_back(&row);
  }
  std::string html =
      "<h2>Rows <small>0 of N, rate &lt; R: the rate of differences is below 3/N (95% confidence, "
      "for this generator)</small></h2>\n<div class=\"card\">\n";
  if (!open.empty()) html += RowsTable(open);
  if (!folded.empty()) {
    absl::StrAppend(&html, "<details><summary>", CountText(folded.size(), "row"),
                    " without differences</summary>\n", RowsTable(folded), "</details>\n");
  }
  return html + "</div>\n";
}

std::string OpenAnswersPart(const SurveySummary& summary) {
  std::string html;
  for (const SurveyRow& row : summary.rows) {
    std::vector<std::vector<std::string>> cells;
    for (const SurveyAnswer* a : OpenAnswers(row)) {
      cells.push_back({Html(a->question), Html(a->answer), Html(a->decides)});
    }
    if (cells.empty()) continue;
    absl::StrAppend(&html, html.empty() ? "<h2>Open answers of rows without a model</h2>\n" : "",
                    "<div class=\"card\">", HtmlTag("h4", "", HtmlName(row.Name())),
                    HtmlTable("", {{"question"}, {"answer"}, {"conclusion"}}, cells, "stack"),
                    "</div>\n");
  }
  return html;
}

std::string ListPart(const char* heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string html = absl::StrCat("<h2>", heading, " <small>", lines.size(),
                                  "</small></h2>\n<div class=\"card\"><ul>\n");
  for (const std::string& line : lines) html += HtmlTag("li", "", Html(line)) + "\n";
  return html + "</ul></div>\n";
}

}  // namespace

std::string SurveyHtml(const SurveySummary& summary) {
  const SurveyManifest& m = summary.outcome->manifest;
  std::vector<std::string> missing, left_out;
  for (const SurveyTask& task : NotReached(*summary.outcome)) missing.push_back(task.Text());
  for (const LeftOutLine& line : m.left_out) left_out.push_back(Text(line));
  uint64_t dot_products = 0, mismatches = 0;
  for (const SurveyRow& row : summary.rows) {
    dot_products += row.dot_products;
    mismatches += row.mismatches;
  }
  std::string body = absl::StrCat(
      "<h1>Survey of ", Html(Name(m.device_identity)), "</h1>\n",
      VerdictCard(summary, missing.size()),
      HtmlTiles({{"rows", summary.rows.size()},
                 {"contradictions", static_cast<uint64_t>(summary.changed)},
                 {"dot products in the run", dot_products},
                 {"mismatches in the run", mismatches},
                 {"tasks not reached", missing.size()}}),
      HtmlFacts({{"Device", m.device},
                 {"Hardware", summary.hardware},
                 {"Program",
                  absl::StrCat("mmadiff ", m.tool_version, ", model version ", m.model_version,
                               ", generator version ", m.generator_version, ", seed ", m.seed)}}));
  const auto troubles = summary.contradictions.begin() + summary.changed;
  for (const auto& [heading, from, to] :
       {std::tuple("Contradictions with the tables", summary.contradictions.begin(), troubles),
        std::tuple("Rows that trap, fail, do not repeat or have a different layout", troubles,
                   summary.contradictions.end())}) {
    if (from != to) absl::StrAppend(&body, "<h2>", heading, "</h2>\n");
    for (auto c = from; c != to; ++c) body += ContradictionCard(*c);
  }
  absl::StrAppend(&body, Rows(summary), OpenAnswersPart(summary), ListPart("Left out", left_out),
                  ListPart("Not reached", missing));
  return HtmlDocument("survey of " + Name(m.device_identity), body);
}

}  // namespace mmadiff
