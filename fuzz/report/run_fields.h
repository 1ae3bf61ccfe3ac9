// The members that JSON has of a run, its instructions and its findings: the same in `run`, `report`, `status`, `merge` and
// `minimize`.
#pragma once

#include <cstdint>
#include <string>

#include "fuzz/output/fields.h"
#include "fuzz/report/run_report.h"
#include "fuzz/report/run_status.h"

namespace mmadiff {

Detail FindingStates(const char* what = "");

// What was counted in units.
struct UnitCounts {
  uint64_t cases, dot_products, mismatches;
  bool at_least;
  std::string stopped;
};
UnitCounts CountsOf(const RunReport& report);
UnitCounts CountsOf(const ShardsStatus& shards);

const Fields<UnitCounts>& FieldsOf(const UnitCounts*);
const Fields<Finding>& FieldsOf(const Finding*);
const Fields<RunReportRow>& FieldsOf(const RunReportRow*);
const Fields<RunReport::Attempt>& FieldsOf(const RunReport::Attempt*);
const Fields<RunReport>& FieldsOf(const RunReport*);
const Fields<RunStatus>& FieldsOf(const RunStatus*);
const Fields<ShardsStatus>& FieldsOf(const ShardsStatus*);

}  // namespace mmadiff
