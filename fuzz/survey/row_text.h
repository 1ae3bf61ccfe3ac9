// What a survey says of one row, in the words that its pages and the terminal share.
#pragma once

#include <string>
#include <vector>

#include "fuzz/survey/summary.h"

namespace mmadiff {

std::string LayoutText(const SurveyRow& row);  // "agrees, also m64n16k16"
// "all 14 agree", "12 of 14 agree; width: ...; not predicted: modes: ...", "no model", "no model; 12 open answers, below".
std::string AnswersText(const SurveyRow& row);
std::string VectorsText(
    const SurveyRow& row);  // "all 267 equal", "1 of 267 differ", "34 of 267 asked, all equal"
std::string VolumeText(const SurveyRow& row);  // "0 of 1e+07, rate < 3e-07" (95 % confidence)
std::string RateText(const SurveyRow& row);    // dot products a second

// Those that were asked, of a row without a model.
std::vector<const SurveyAnswer*> OpenAnswers(const SurveyRow& row);

std::vector<SurveyTask> NotReached(const SurveyOutcome& outcome);

// The command that shows a contradiction without the device, from its smallest case, which it has.
std::string CheckCommand(const SurveyContradiction& c);

}  // namespace mmadiff
