// What a survey prints: a page for people, and the same as JSON for programs.
#pragma once

#include <string>

#include "fuzz/survey/summary.h"

namespace mmadiff {

// Markdown: contradictions with their minimal cases, a row a line, what was not reached.
std::string SurveyPage(const SurveySummary& summary);

// One JSON object with the same, and every answer.
std::string SurveyJson(const SurveySummary& summary);

}  // namespace mmadiff
