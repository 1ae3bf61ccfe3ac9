// The stamp of a survey's page: the number of results of the log that it shows, their hash, and the
// page's own hash. It reveals a page that was edited, cut off or made from a different log. The
// page need not be regenerated for that, so its wording may change between versions.
#pragma once

#include <cstddef>
#include <string>

#include "corpus/survey_log.h"

namespace mmadiff {

// Adds a stamp at the end of a page that shows the first `results` of the log: a Markdown comment,
// or the last member of a JSON object.
std::string Stamped(const std::string& page, const StoredSurvey& log, size_t results);

enum class StampState {
  kNone,   // written by a version without stamps
  kRight,  // as written, from all results of the log
  kStale,  // as written, from fewer
  kWrong,  // not as written, or from other results
};
StampState CheckStamp(const std::string& page, const StoredSurvey& log);

}  // namespace mmadiff
