// The JSON members of `survey`, which are also those of survey.json.
#pragma once

#include <string>

#include "fuzz/output/fields.h"
#include "fuzz/survey/compare.h"
#include "fuzz/survey/summary.h"

namespace mmadiff {

Fields<SurveySummary> FieldsOf(const SurveySummary*);
Fields<SurveyDifference::Row> FieldsOf(const SurveyDifference::Row*);
Fields<SurveyDifference> FieldsOf(const SurveyDifference*);

}  // namespace mmadiff
