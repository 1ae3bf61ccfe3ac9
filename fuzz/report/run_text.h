// The report of a run as text: a table for people, `stat::name: value` lines
// and JSON for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
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

// Members of the objects that an instruction and a finding are in every JSON of a run; and the
// report of `run`.
nlohmann::ordered_json JsonOf(const RunReportRow& row);
nlohmann::ordered_json JsonOf(const Finding& finding);

nlohmann::ordered_json JsonOf(const RunReport& report);
// One finding, as it is in that object, after a verdict: "differs", "flaky", or
// "equal" to the model, of which little but the instruction and the case is
// filled.
std::string FormatJsonMinimized(const Finding& finding, const char* verdict);

}  // namespace mmadiff
