// The report of a run as text: a table for people, and `stat::name: value` lines.
#pragma once

#include <string>

#include "fuzz/report/run_report.h"
#include "triage/text_table.h"

namespace mmadiff {

// Instruction, cases, dot products, mismatches, rate, evidence; then findings and notes, such as
// dropped instructions and classes without a case.
std::string FormatReport(const RunReport& report);
// `stat::name: value` lines.
std::string FormatStats(const RunReport& report);

// The command lines to suggest on a terminal.
struct NextCommands {
  std::string again;   // the same command, which resumes the run
  std::string longer;  // the same command with more cases
};
// The report for a terminal. The last lines show what ran, the differences, the folder and the next
// command, in at most 24 lines of 80 columns.
std::string FormatScreen(const RunReport& report, const NextCommands& next, const TextStyle& style);

}  // namespace mmadiff
