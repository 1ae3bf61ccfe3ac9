// The files of a survey other than its log.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "fuzz/survey/summary.h"

namespace mmadiff {

// Writes survey.html, survey.md, survey.json and recording/ into the folder, replacing those of an
// earlier attempt. kDataLoss if they cannot be written. `note` is set if some lines did not fit the
// recording.
absl::Status WriteSurveyFiles(const std::string& folder, const SurveySummary& summary,
                              std::string& note);

// Writes the pages only, while the survey runs. Errors as above.
absl::Status WriteSurveyPages(const std::string& folder, const SurveySummary& summary);

}  // namespace mmadiff
