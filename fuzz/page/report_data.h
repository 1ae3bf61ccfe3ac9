// What a report says of finished or unfinished runs, gathered from their folders. The writers
// (html_page.h, plain_pages.h) only print it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/output/console.h"
#include "fuzz/page/crosses.h"
#include "fuzz/report/run_report.h"
#include "triage/explain_text.h"

namespace mmadiff {

// One bucket, with its minimal case explained.
struct ReportFinding {
  Finding finding;
  std::string minimal;  // its operands that are not +0, lines
  std::string typical;  // what ordinary numbers give, if one of the cases has such
  // Both words bit by bit, or the model's and what the device did, lines; empty: the stored answer is
  // the model's.
  std::string difference;
  // The same in narrow lines, for a phone: both words bit by bit with marks, three lines; then what they are. Empty
  // without two words.
  std::string bits, values;
  std::optional<InputFailure> failure;  // in place of an answer
  uint64_t age = 0;                     // of the answer or failure (Answer::age)
  std::vector<std::string> columns;     // "model", the change that gives the device's answer
  std::vector<StageLine> stages;        // with those columns; empty if it was not explained
  std::string diagnosis;                // of the stored answers, a sentence
  std::string command;                  // to type in a shell
};

struct RateSeries {
  uint64_t begin = 0, end = 0;  // seconds since 1970 UTC; both 0: not known
  struct Machine {
    std::string name;
    std::vector<double> rates = {};  // dot products a second, in intervals of equal length
  };
  std::vector<Machine> machines;
};

// Changed models that the run's strategy was tried on again.
struct ReportMutants {
  uint64_t models = 0, of_models = 0;  // tried, and of how many in the run
  uint64_t cases = 0;                  // executions in which each had to differ
  uint64_t mutants = 0;
  struct Survivor {
    std::string instruction, change;
  };
  std::vector<Survivor> survivors;
};

struct WordsAtDistance {
  std::string distance;  // in ulps, or "special"
  uint64_t words;        // that differ so much
};

// One run, a folder or the folders of its shards, with what only its page has.
struct ReportRun : RunReport {           // its rows in the order of RunReportRow::state
  std::vector<ReportFinding> explained;  // the findings
  std::vector<Cross> crosses;            // coverage of all rows
  RateSeries rate;
  std::vector<WordsAtDistance> ulps;
  ReportMutants mutants;
};

// Findings of one change of the model, or one of none.
struct FindingGroup {
  std::string change;            // "fraction_bits=24"; empty: one finding
  std::vector<size_t> findings;  // of ReportRun::explained, ascending
  uint64_t instructions = 0;
};
// The largest first.
std::vector<FindingGroup> GroupFindings(const ReportRun& run);
// "fraction_bits=24 explains all 14 instructions"; "" for a group of one instruction.
std::string Sentence(const FindingGroup& group, const ReportRun& run);

struct ReportData {
  std::vector<ReportRun> runs;             // in the order of their first folders
  std::vector<std::string> not_read = {};  // NotRead() of the folders;
  bool damage = false;                     // one of them is damage

  bool Damaged() const;
};

struct ReportOptions {
  std::vector<std::string> folders;  // at least one
  size_t explained = 20;             // buckets of a run that are explained stage by stage
  size_t mutant_models = 8;          // of a run; 0: none is tried
  uint64_t mutant_cases = 2000;      // at most
};

// Each unit is counted once. Errors as ReadManifests().
absl::StatusOr<ReportData> GatherReport(const ReportOptions& options, Console& console);

}  // namespace mmadiff
