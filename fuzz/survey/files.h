// The files of a survey beside its log.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "fuzz/survey/summary.h"

namespace mmadiff {

// Writes survey.html, survey.md, survey.json and recording/ into the folder, in place of those of an earlier
// attempt. kDataLoss when they cannot be written. `note` says what did not fit the recording.
absl::Status WriteSurveyFiles(const std::string& folder, const SurveySummary& summary,
                              std::string& note);

// The pages alone, while the survey runs. Errors as above.
absl::Status WriteSurveyPages(const std::string& folder, const SurveySummary& summary);

}  // namespace mmadiff
