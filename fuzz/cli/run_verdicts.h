// The verdicts, and so the exit code, at the end of a run.
#pragma once

#include "corpus/ledger.h"
#include "fuzz/report/run_report.h"
#include "fuzz/verdict/ending.h"

namespace mmadiff {

// Enters the outcome of each instruction of the run.
void EnterRows(const RunReport& report, Ledger& ledger);
// For runs read from folders: reports the rows that the last attempts dropped, if that puts earlier
// answers in doubt.
void SayDoubts(const RunReport& report, Ending& ending);
// For a report with an attempt. `require_coverage`: too few cases are a verdict too.
void SayVerdicts(const RunReport& report, bool require_coverage, Ending& ending);

}  // namespace mmadiff
