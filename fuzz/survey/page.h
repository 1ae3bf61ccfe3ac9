// The survey's page in Markdown and its screen for a terminal.
#pragma once

#include <string>

#include "fuzz/survey/summary.h"
#include "triage/text_table.h"

namespace mmadiff {

// Markdown: contradictions with their minimal cases, one line per row, tasks that were not reached.
std::string SurveyPage(const SurveySummary& summary);

// Shorter, for a terminal: rows, contradictions, the path of the page, and the next command.
std::string SurveyScreen(const SurveySummary& summary, const std::string& folder,
                         const TextStyle& style);

}  // namespace mmadiff
