// What a survey says, as one HTML file that needs no network.
#pragma once

#include <string>

#include "fuzz/survey/summary.h"

namespace mmadiff {

// As SurveyPage(); rows in which all agrees are folded.
std::string SurveyHtml(const SurveySummary& summary);

}  // namespace mmadiff
