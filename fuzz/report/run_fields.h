// JSON members of a run, its instructions and its findings: the same in `run`, `report`, `status`,
// `merge` and `minimize`.
#pragma once

#include <cstdint>
#include <string>

#include "fuzz/output/fields.h"
#include "fuzz/report/run_report.h"
#include "fuzz/report/run_status.h"

namespace mmadiff {

Detail FindingStates(const char* what = "");
// Digest of the device's results in the named shards.
Detail DigestOfRun();

// Totals over units.
struct UnitCounts {
  uint64_t cases, dot_products, mismatches;
  bool at_least;
  std::string stopped;
};
UnitCounts CountsOf(const RunReport& report);

Fields<UnitCounts> FieldsOf(const UnitCounts*);
Fields<Clue> FieldsOf(const Clue*);
Fields<Finding> FieldsOf(const Finding*);
Fields<RunReportRow> FieldsOf(const RunReportRow*);
Fields<RunReport::Attempt> FieldsOf(const RunReport::Attempt*);
Fields<RunReport> FieldsOf(const RunReport*);
Fields<RunStatus> FieldsOf(const RunStatus*);
Fields<ShardsStatus> FieldsOf(const ShardsStatus*);

}  // namespace mmadiff
