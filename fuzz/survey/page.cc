#include "fuzz/survey/page.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "fuzz/output/next_command.h"
#include "fuzz/output/progress.h"
#include "fuzz/survey/row_text.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxMissing = 20;  // missing tasks that the page lists

void AddContradiction(const SurveyContradiction& c, std::string& page) {
  absl::StrAppend(&page, "* **", c.op, c.variant.empty() ? "" : " with " + c.variant.substr(1),
                  "**: ");
  if (c.finding == nullptr) {
    absl::StrAppend(&page, c.what, "\n");
    return;
  }
  absl::StrAppend(
      &page, "`", Name(c.finding->bucket), "`: ", c.what,
      c.others.empty() ? "" : absl::StrCat("; the same holds for ", c.others.size(), " variants"),
      "\n");
  if (c.finding->cases.empty()) return;
  const SurveyFinding::Case& minimal = c.finding->cases.front();
  absl::StrAppend(&page, "  the model gives `", minimal.model,
                  "`; the last word in quotes is the device's answer:\n\n", "      ",
                  CheckCommand(c), "\n\n");
}

std::string Cell(const std::string& text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

}  // namespace

// Lists the answers of rows without a model.
void AddOpenAnswers(const SurveySummary& summary, std::string& page) {
  bool any = false;
  for (const SurveyRow& row : summary.rows) {
    const std::vector<const SurveyAnswer*> open = OpenAnswers(row);
    if (open.empty()) continue;
    absl::StrAppend(&page, any ? "" : "\n## Open answers of rows without a model\n", "\n",
                    row.Name(), "\n\n");
    any = true;
    for (const SurveyAnswer* a : open) {
      absl::StrAppend(&page, "* ", a->question, ": ", Cell(a->answer), ": ", Cell(a->decides),
                      "\n");
    }
  }
}

std::string SurveyPage(const SurveySummary& summary) {
  const SurveyManifest& manifest = summary.outcome->manifest;
  std::string page = absl::StrCat(
      "# Survey of ", Name(manifest.device_identity), "\n\nDevice `", manifest.device, "`",
      summary.hardware.empty() ? "" : ", " + summary.hardware, "; mmadiff ", manifest.tool_version,
      ", model ", manifest.model_version, ", generator ", manifest.generator_version, ", seed ",
      manifest.seed, ". ", CountText(summary.rows.size(), "row"), ".",
      summary.outcome->running ? " The survey was running when this page was written." : "",
      "\n\n## Contradictions with the tables\n\n");
  const auto troubles = summary.contradictions.begin() + summary.changed;
  if (summary.changed == 0) {
    page += summary.HasModel()
                ? "None.\n"
                : "Nothing was compared: no row has a model. `mmadiff infer` can search for "
                  "one.\n";
  }
  for (auto c = summary.contradictions.begin(); c != troubles; ++c) AddContradiction(*c, page);
  if (troubles != summary.contradictions.end()) {
    absl::StrAppend(&page,
                    "\n## Rows that trap, fail, do not repeat or have a different layout\n\n");
  }
  for (auto c = troubles; c != summary.contradictions.end(); ++c) AddContradiction(*c, page);
  absl::StrAppend(&page, "\n## Rows\n\n",
                  "| row | layout | repeats | questions | vectors | run, dot products | per second "
                  "| recorded |\n|---|---|---|---|---|---|---|---|\n");
  for (const SurveyRow& row : summary.rows) {
    absl::StrAppend(&page, "| ", Cell(row.Name()), row.emulated ? " (emulated)" : "", " | ",
                    LayoutText(row), " | ", Cell(row.repeat), " | ", Cell(AnswersText(row)), " | ",
                    VectorsText(row), " | ", VolumeText(row), " | ", RateText(row), " | ",
                    row.recorded, " |\n");
  }
  AddOpenAnswers(summary, page);
  const std::vector<SurveyTask> missing = NotReached(*summary.outcome);
  if (!manifest.left_out.empty()) page += "\n## Left out\n\n";
  for (const LeftOutLine& line : manifest.left_out) {
    absl::StrAppend(&page, "* ", Cell(Text(line)), "\n");
  }
  absl::StrAppend(&page, "\n## Not reached\n\n");
  if (missing.empty()) absl::StrAppend(&page, "Nothing is missing.\n");
  for (size_t i = 0; i < std::min(missing.size(), kMaxMissing); ++i) {
    absl::StrAppend(&page, "* ", missing[i].Text(), "\n");
  }
  if (missing.size() > kMaxMissing) {
    absl::StrAppend(&page, "* and ", missing.size() - kMaxMissing, " more (survey.json)\n");
  }
  absl::StrAppend(&page,
                  "\n\"0 of N, rate < R\": the rate of differences is below 3/N (95% confidence) "
                  "for this generator, not zero.\n");
  return page;
}

std::string SurveyScreen(const SurveySummary& summary, const std::string& folder,
                         const TextStyle& style) {
  TextTable table({{"row"},
                   {.title = "questions", .drop = 1},
                   {.title = "vectors", .drop = 2},
                   {.title = "run, dot products", .drop = 3}});
  for (const SurveyRow& row : summary.rows) {
    table.Add({row.Name(), AnswersText(row), VectorsText(row), VolumeText(row)},
              !row.troubles.empty());
  }
  std::string text = table.Text(style) + "\n";
  const auto add = [&](absl::string_view label, absl::string_view words) {
    text += Labelled(absl::StrFormat("%-9s", label), words, style.width);
  };
  add("surveyed", absl::StrCat(CountText(summary.rows.size(), "row"), " of ",
                               Name(summary.outcome->manifest.device_identity)));
  for (const SurveyContradiction& c : summary.contradictions) add("differs", c.Text());
  if (summary.contradictions.empty()) {
    add("differs", summary.HasModel() ? "no answer" : "nothing was compared: no row has a model");
  }
  const size_t missing = NotReached(*summary.outcome).size();
  if (missing > 0) add("missing", absl::StrCat(missing, " tasks were not reached"));
  add("filed", absl::StrCat(folder, "/survey.html"));
  return text + CommandLine("next     ", absl::StrCat(Program(), " replay ", ShellWord(folder)),
                            style.width);
}

}  // namespace mmadiff
