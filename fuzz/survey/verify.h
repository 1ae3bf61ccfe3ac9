// Whether the copies beside the log of a survey are what the log says.
#pragma once

#include <string>
#include <vector>

#include "corpus/survey_log.h"

namespace mmadiff {

struct SurveyCheck {
  std::vector<std::string> wrong;  // a line each
  std::vector<std::string> stale;  // pages of an earlier attempt, a line each
};

// Damage of the log itself; a recording that has what the log has not (corpus/recordings/survey_answers.h); survey.md and
// survey.json whose stamps are not right (fuzz/survey/stamp.h). A missing file is not wrong: a survey may be killed before
// it writes it, and while it writes its log. Nothing more is said of a damaged log, nor of pages without a stamp.
SurveyCheck CheckSurvey(const std::string& folder, const StoredSurvey& stored);

// Whether this version of the program and its tables wrote the log.
bool IsOfThisVersion(const SurveyManifest& manifest);

}  // namespace mmadiff
