// The members of the JSON of `report`, and the columns of its CSV.
#pragma once

#include "fuzz/output/fields.h"
#include "fuzz/page/report_data.h"

namespace mmadiff {

const Fields<ReportFinding>& FieldsOf(const ReportFinding*);
const Fields<Cross>& FieldsOf(const Cross*);
const Fields<ReportMutants>& FieldsOf(const ReportMutants*);
const Fields<ReportRun>& FieldsOf(const ReportRun*);
const Fields<ReportData>& FieldsOf(const ReportData*);

// A line of the CSV.
struct RowOfRun {
  const ReportRun& run;
  const RunReportRow& row;
};
const Fields<RowOfRun>& FieldsOf(const RowOfRun*);

}  // namespace mmadiff
