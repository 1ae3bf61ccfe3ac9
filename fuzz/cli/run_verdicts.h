// What the end of a run means for its exit code.
#pragma once

#include "fuzz/output/ending.h"
#include "fuzz/report/run_report.h"

namespace mmadiff {

// For a report with an attempt. `require_coverage`: too few cases are a verdict, too.
void SayVerdicts(const RunReport& report, bool require_coverage, Ending& ending);

}  // namespace mmadiff
