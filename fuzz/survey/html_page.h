// The results of a survey as one HTML file that needs no network.
#pragma once

#include <string>

#include "fuzz/survey/summary.h"

namespace mmadiff {

// The content of SurveyPage(); rows without differences are folded.
std::string SurveyHtml(const SurveySummary& summary);

}  // namespace mmadiff
