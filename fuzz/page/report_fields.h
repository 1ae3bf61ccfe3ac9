// The JSON members and CSV columns of `report`.
#pragma once

#include "fuzz/output/fields.h"
#include "fuzz/page/report_data.h"

namespace mmadiff {

Fields<ReportFinding> FieldsOf(const ReportFinding*);
Fields<Cross> FieldsOf(const Cross*);
Fields<ReportMutants> FieldsOf(const ReportMutants*);
Fields<ReportRun> FieldsOf(const ReportRun*);
Fields<ReportData> FieldsOf(const ReportData*);

// A line of the CSV.
struct RowOfRun {
  const ReportRun& run;
  const RunReportRow& row;
};
Fields<RowOfRun> FieldsOf(const RowOfRun*);

}  // namespace mmadiff
