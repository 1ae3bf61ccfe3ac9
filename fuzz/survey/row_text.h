// The text for one row of a survey, which its pages and the terminal share.
#pragma once

#include <string>
#include <vector>

#include "fuzz/survey/summary.h"

namespace mmadiff {

std::string LayoutText(const SurveyRow& row);  // "agrees, also m64n16k16"
// "all 14 agree", "12 of 14 agree; width: ...; not predicted: modes: ...", "no model",
// "no model; 12 open answers below".
std::string AnswersText(const SurveyRow& row);
// "all 267 equal", "1 of 267 differ", "34 of 267 asked, all equal"
std::string VectorsText(const SurveyRow& row);
std::string VolumeText(const SurveyRow& row);  // "0 of 1e+07, rate < 3e-07" (95% confidence)
std::string RateText(const SurveyRow& row);    // dot products per second

// The answers of a row without a model; none if it has one.
std::vector<const SurveyAnswer*> OpenAnswers(const SurveyRow& row);

std::vector<SurveyTask> NotReached(const SurveyOutcome& outcome);

// The command that shows a contradiction without the device, on its smallest case. It must have
// one.
std::string CheckCommand(const SurveyContradiction& c);

}  // namespace mmadiff
