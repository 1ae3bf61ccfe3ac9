// The stamp of a survey's page: which results of the log it shows, their hash and the page's own. So a page that was
// edited, cut off or made from another log is found without making it again: its wording may change.
#pragma once

#include <cstddef>
#include <string>

#include "corpus/survey_log.h"

namespace mmadiff {

// The page with a stamp at its end: a comment of Markdown, or the last member of a JSON object. It shows the first
// `results` of the log.
std::string Stamped(const std::string& page, const StoredSurvey& log, size_t results);

enum class StampState {
  kNone,   // written by a version without stamps
  kRight,  // as written, from all results of the log
  kStale,  // as written, from fewer
  kWrong,  // not as written, or from other results
};
StampState CheckStamp(const std::string& page, const StoredSurvey& log);

}  // namespace mmadiff
