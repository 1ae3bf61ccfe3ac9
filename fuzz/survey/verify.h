// Checks that the other files of a survey match its log.
#pragma once

#include <string>
#include <vector>

#include "corpus/survey_log.h"

namespace mmadiff {

struct SurveyCheck {
  std::vector<std::string> wrong;  // one line each
  std::vector<std::string> stale;  // pages of an earlier attempt, one line each
};

// Reports damage of the log itself; a recording with answers that the log lacks
// (corpus/recordings/survey_answers.h); pages whose stamps are wrong (fuzz/survey/stamp.h). A
// missing file is not an error: a survey may be killed before it writes the file. If the log is
// damaged, nothing else is checked. Pages that an old version wrote without a stamp are not
// checked.
SurveyCheck CheckSurvey(const std::string& folder, const StoredSurvey& stored);

// Whether this version of the program and its tables wrote the log.
bool IsOfThisVersion(const SurveyManifest& manifest);

}  // namespace mmadiff
