// The report of a run as text: a table for people, and `stat::name: value` lines.
#pragma once

#include <string>

#include "fuzz/report/run_report.h"
#include "triage/text_table.h"

namespace mmadiff {

// Instruction, cases, dot products, mismatches, rate, evidence; then findings,
// and what the numbers do not say: dropped instructions, classes without a
// case.
std::string FormatReport(const RunReport& report);
// `stat::name: value` lines.
std::string FormatStats(const RunReport& report);

// The command lines that a terminal offers.
struct NextCommands {
  std::string again;   // the same: it resumes
  std::string longer;  // with more cases
};
// The report for a terminal: what ran, what differs, where it is filed and what
// to type next come last, in at most 24 lines of 80 columns.
std::string FormatScreen(const RunReport& report, const NextCommands& next, const TextStyle& style);

}  // namespace mmadiff
