#include "fuzz/survey/verify.h"

#include "absl/strings/str_cat.h"
#include "corpus/durable_file.h"
#include "corpus/recordings/survey_answers.h"
#include "fuzz/survey/stamp.h"
#include "sim/numerics.h"

namespace mmadiff {

SurveyCheck CheckSurvey(const std::string& folder, const StoredSurvey& stored) {
  SurveyCheck check;
  const std::string log = SurveyLogPath(folder);
  if (stored.damaged) {
    check.wrong.push_back(absl::StrCat(log, ": ", stored.Damage()));
    return check;
  }
  check.wrong = WrongRecording(folder, stored);
  for (const absl::string_view name : kSurveyPages) {
    const std::string path = absl::StrCat(folder, "/", name);
    const absl::StatusOr<std::string> page = ReadFile(path);
    if (absl::IsNotFound(page.status())) continue;
    const StampState state = page.ok() ? CheckStamp(*page, stored) : StampState::kWrong;
    const bool lost = state == StampState::kNone && stored.manifest.format >= kStampedFormat;
    if (state == StampState::kWrong || lost) {
      check.wrong.push_back(absl::StrCat(path, ": does not match ", log));
    } else if (state == StampState::kStale) {
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
