// Whether the pages of a survey are those that its log gives.
#pragma once

#include <string>
#include <vector>

#include "corpus/survey_log.h"

namespace mmadiff {

// What is wrong with survey.md and survey.json, a line each: they must be what the log says at the
// end of one of its attempts. A page that is not there is not wrong: a survey may be killed before
// it writes it. Nothing is said of a log that is damaged or torn, nor of one that another version
// of this program or its tables wrote.
std::vector<std::string> WrongPages(const std::string& folder, const StoredSurvey& stored);

}  // namespace mmadiff
