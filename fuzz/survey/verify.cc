#include "fuzz/survey/verify.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "corpus/recordings/survey_answers.h"
#include "fuzz/survey/page.h"
#include "fuzz/survey/schedule.h"
#include "fuzz/survey/summary.h"
#include "fuzz/survey/survey.h"
#include "sim/numerics.h"

namespace mmadiff {
namespace {

struct Pages {
  std::string markdown, json;
};

// What an attempt wrote at its end.
Pages PagesOf(const StoredSurvey& stored, const StoredSurvey::End& end) {
  SurveyOutcome outcome;
  outcome.manifest = stored.manifest;
  const auto first = stored.results.begin();
  outcome.results.assign(first, first + static_cast<std::ptrdiff_t>(end.results));
  SurveySchedule schedule(outcome.manifest);
  for (const SurveyResult& result : outcome.results) schedule.Done(result);
  outcome.missing = schedule.Pending();
  outcome.given_up = schedule.GivenUp();
  outcome.stopped_by = end.end.stopped_by;
  if (!end.end.device.empty()) outcome.device = absl::UnavailableError(end.end.device);
  const SurveySummary summary = Summarize(outcome);
  return {SurveyPage(summary), SurveyJson(summary)};
}

}  // namespace

SurveyCheck CheckSurvey(const std::string& folder, const StoredSurvey& stored) {
  SurveyCheck check;
  const std::string log = SurveyLogPath(folder);
  if (stored.damaged) {
    check.wrong.push_back(absl::StrCat(log, ": ", stored.Damage()));
    return check;
  }
  check.wrong = WrongRecording(folder, stored);
  if (!IsOfThisVersion(stored.manifest)) return check;
  std::vector<Pages> right;
  for (const StoredSurvey::End& end : stored.ends) right.push_back(PagesOf(stored, end));
  for (const auto& [name, page] :
       {std::pair("survey.md", &Pages::markdown), std::pair("survey.json", &Pages::json)}) {
    const std::string path = absl::StrCat(folder, "/", name);
    std::ifstream file(path, std::ios::binary);
    if (!file && !std::filesystem::exists(path)) continue;
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    // Of equal ones the last.
    const auto same = std::ranges::find(right.rbegin(), right.rend(), text, page);
    if (same == right.rend()) {
      check.wrong.push_back(absl::StrCat(path, ": not what ", log, " says"));
    } else if (stored.ends[right.rend() - same - 1].results < stored.results.size()) {
      check.stale.push_back(absl::StrCat(path, ": out of date: ", log, " has later answers"));
    }
  }
  return check;
}

bool IsOfThisVersion(const SurveyManifest& manifest) {
  return manifest.tool_version == MMADIFF_VERSION &&
         manifest.model_version == absl::StrCat(kModelVersion);
}

}  // namespace mmadiff
