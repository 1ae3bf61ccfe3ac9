// What a survey prints: a page for people, and the same as JSON for programs.
#pragma once

#include <string>

#include "fuzz/survey/summary.h"
#include "triage/text_table.h"

namespace mmadiff {

// Markdown: contradictions with their minimal cases, a row a line, what was not reached.
std::string SurveyPage(const SurveySummary& summary);

// The same for a terminal, shorter: rows, contradictions, where the page is, and what to type next.
std::string SurveyScreen(const SurveySummary& summary, const std::string& folder,
                         const TextStyle& style);

// One JSON object with the same, and every answer.

}  // namespace mmadiff
