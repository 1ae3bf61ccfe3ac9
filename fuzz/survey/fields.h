// The members of the JSON of `survey`, which is also the file survey.json.
#pragma once

#include <string>

#include "fuzz/output/fields.h"
#include "fuzz/survey/compare.h"
#include "fuzz/survey/summary.h"

namespace mmadiff {

const Fields<SurveySummary>& FieldsOf(const SurveySummary*);
const Fields<SurveyDifference::Row>& FieldsOf(const SurveyDifference::Row*);
const Fields<SurveyDifference>& FieldsOf(const SurveyDifference*);

}  // namespace mmadiff
