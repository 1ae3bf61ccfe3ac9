#include "fuzz/page/html_charts.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "corpus/utc_time.h"
#include "fuzz/output/html.h"
#include "fuzz/output/progress.h"
#include "fuzz/output/ulp_buckets.h"

namespace mmadiff {
namespace {

constexpr int kWidth = 960, kHeight = 160;  // size of the plot, in its own units
constexpr size_t kMaxNarrow = 14;  // maximum columns of a heat map that may have others beside it
constexpr int kHeats = 9;          // css classes h1 .. h9

std::string HeatOf(uint64_t count, uint64_t most) {
  const double share = std::log1p(static_cast<double>(count)) /
                       std::log1p(static_cast<double>(std::max<uint64_t>(most, 1)));
  return absl::StrCat("h", std::clamp(static_cast<int>(std::ceil(share * kHeats)), 1, kHeats));
}

std::string PowerText(size_t power) { return absl::StrCat("2<sup>", power, "</sup>"); }

std::string CellTitle(const Cross& cross, const Cross::Cell& cell, const std::string& row,
                      const std::string& column) {
  std::string title = absl::StrCat(cross.group, "/", row, column.empty() ? "" : "/", column, ": ");
  if (!cell.known) return absl::StrCat(title, "no such bin");
  if (cell.instructions == 0) return absl::StrCat(title, "cannot be reached: ", cell.unreachable);
  absl::StrAppend(&title, CountText(cell.count, "dot product"));
  if (cell.missing == 0) return title;
  absl::StrAppend(&title, cell.count == 0 ? "; never reached in " : "; too few in ",
                  CountOfText(cell.missing, cell.instructions, "instruction"), ", such as ",
                  cell.example);
  return title;
}

std::string CellHtml(const Cross& cross, size_t row, size_t column, uint64_t most) {
  const Cross::Cell& cell = cross.cells[row][column];
  const std::string title = Html(CellTitle(cross, cell, cross.rows[row], cross.columns[column]));
  std::string css, text;
  if (cell.instructions == 0) {
    css = "u";
    text = cell.known ? "&middot;" : "";
  } else {
    css = cell.count == 0    ? "none"
          : cell.missing > 0 ? absl::StrCat("few ", HeatOf(cell.count, most))
                             : HeatOf(cell.count, most);
    text = Html(HumanCount(static_cast<double>(cell.count)));
  }
  return absl::StrCat("<td class=\"", css, "\" title=\"", title, "\">", text, "</td>");
}

}  // namespace

std::string UlpChart(const ReportRun& run) {
  uint64_t most = 0;
  for (const auto& [bucket, count] : run.ulps) most = std::max(most, count);
  if (most == 0) return "";
  std::string bars, axis;
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, const std::string& label, uint64_t count) {
    const double percent =
        100. * std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(most));
    absl::StrAppend(&bars, "<span style=\"height:", absl::StrFormat("%.1f", percent),
                    "%\" title=\"", Html(name), ": ", CountText(count, "word"), "\"></span>");
    absl::StrAppend(&axis, "<span>", label, "</span>");
    if (count > 0) rows.push_back({Html(name), HtmlNumber(count)});
  };
  // Includes empty ones up to the last nonempty one.
  size_t at = 0;
  for (size_t i = 0; i + 1 < UlpBuckets().size() && at < run.ulps.size(); ++i) {
    const std::string& bucket = UlpBuckets()[i];
    if (run.ulps[at].distance == "special") break;
    const bool there = run.ulps[at].distance == bucket;
    add(bucket + (i == 0 ? " ulp" : " ulps"),
        i == 0       ? "1"
        : i % 8 == 0 ? PowerText(i)
                     : "",
        there ? run.ulps[at].words : 0);
    at += there;
  }
  if (run.ulps.back().distance == "special") {
    add("sign, infinity or NaN", "special", run.ulps.back().words);
  }
  return absl::StrCat(
      "<figure><figcaption>differing words by distance in ulps; logarithmic scale, at most ",
      HtmlNumber(most), "</figcaption>\n<div class=\"hist\">", bars, "</div><div class=\"ticks\">",
      axis, "</div></figure>\n<details><summary>Numbers</summary>\n",
      HtmlTable("", {{"distance"}, {"words", true}}, rows), "</details>\n");
}

std::string RateChart(const RateSeries& rate) {
  if (rate.machines.empty()) return "";
  const size_t intervals = rate.machines.front().rates.size();
  std::vector<double> sums(intervals);
  for (const RateSeries::Machine& machine : rate.machines) {
    for (size_t i = 0; i < intervals; ++i) sums[i] += machine.rates[i];
  }
  const double most = std::max(1e-9, *std::ranges::max_element(sums));
  std::string areas, legend;
  std::vector<double> below(intervals);
  for (size_t m = 0; m < rate.machines.size(); ++m) {
    const auto& [name, rates] = rate.machines[m];
    // Forward along the tops of the intervals, back along the area below.
    std::string there, back;
    for (size_t i = 0; i < intervals; ++i) {
      const double left = static_cast<double>(i * kWidth) / static_cast<double>(intervals);
      const double right = static_cast<double>((i + 1) * kWidth) / static_cast<double>(intervals);
      const double top = below[i] + rates[i];
      const auto point = [&](double x, double y) {
        return absl::StrFormat("%.1f,%.1f ", x, kHeight * (1 - y / most));
      };
      there += point(left, top) + point(right, top);
      back = point(right, below[i]) + point(left, below[i]) + back;
      below[i] = top;
    }
    absl::StrAppend(&areas, "<polygon class=\"s", m + 1, "\" points=\"", there, back, "\"><title>",
                    Html(name), "</title></polygon>\n");
    absl::StrAppend(&legend, "<li><span class=\"key s", m + 1, "\"></span>", Html(name), "</li>\n");
  }
  return absl::StrCat("<figure><figcaption>at most ", Html(HumanCount(most)),
                      " dot products/s</figcaption>\n<svg class=\"plot\" role=\"img\" "
                      "aria-label=\"Dot products per second over time, by machine\" viewBox=\"0 0 ",
                      kWidth, " ", kHeight, "\" preserveAspectRatio=\"none\">\n", areas,
                      "</svg>\n<div class=\"axis\"><span>", UtcTime(rate.begin), "</span><span>",
                      UtcTime(rate.end), "</span></div>\n<ul class=\"legend\">\n", legend,
                      "</ul></figure>\n");
}

std::string CrossChart(const Cross& cross) {
  uint64_t most = 0;
  for (const auto& row : cross.cells) {
    for (const Cross::Cell& cell : row) most = std::max(most, cell.count);
  }
  const CrossTotals totals = TotalsOf(cross);
  std::string html = absl::StrCat(
      "<section class=\"cross", cross.columns.size() <= kMaxNarrow ? "" : " wide", "\"><h4>",
      Html(cross.group), " <small>", totals.reachable - totals.missing, " of ", totals.reachable,
      " reached</small></h4>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"heat\">\n");
  if (cross.columns.size() > 1 || !cross.columns.front().empty()) {
    html += "<thead><tr><td></td>";
    for (const std::string& column : cross.columns) {
      html += absl::StrCat("<th scope=\"col\"><span>", Html(column), "</span></th>");
    }
    html += "</tr></thead>\n";
  }
  html += "<tbody>\n";
  for (size_t r = 0; r < cross.rows.size(); ++r) {
    html += absl::StrCat("<tr><th scope=\"row\">", Html(cross.rows[r]), "</th>");
    for (size_t c = 0; c < cross.columns.size(); ++c) html += CellHtml(cross, r, c, most);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></section>\n";
}

}  // namespace mmadiff
