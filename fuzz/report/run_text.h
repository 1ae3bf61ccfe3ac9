// The report of a run as text: a table for people, and `stat::name: value` lines.
#pragma once

#include <string>

#include "fuzz/report/run_report.h"
#include "triage/text_table.h"

namespace mmadiff {

// Instruction, cases, dot products, mismatches, rate, evidence; then the findings, and facts that
// the numbers do not show: dropped instructions, classes without a case.
std::string FormatReport(const RunReport& report);
// `stat::name: value` lines.
std::string FormatStats(const RunReport& report);

// The command lines that a terminal offers.
struct NextCommands {
  std::string again;   // the same command line: it resumes the run
  std::string longer;  // with more cases
};
// The report for a terminal. A summary comes last, in at most 24 lines of 80 columns: instructions
// and cases, differences, the folder of the findings, the next command.
std::string FormatScreen(const RunReport& report, const NextCommands& next, const TextStyle& style);

}  // namespace mmadiff
