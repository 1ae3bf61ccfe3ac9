// The members of the JSON of `survey`, which is also the file survey.json.
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
