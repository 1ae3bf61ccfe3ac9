// The contents of a report on finished or unfinished runs, gathered from their folders. The writers
// (html_page.h, plain_pages.h) only print them.
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
  std::string minimal;  // lines with its operands that are not +0
  std::string typical;  // results for ordinary numbers, if one of the cases has them
  // Lines with both words bit by bit, or with the model's word and the device's failure; empty if
  // the stored answer is the model's.
  std::string difference;
  // The same in narrow lines, for a phone: three lines with both words bit by bit and marks, then
  // their values. Empty without two words.
  std::string bits, values;
  std::optional<InputFailure> failure;  // instead of an answer
  uint64_t age = 0;                     // age of the answer or failure (Answer::age)
  std::vector<std::string> columns;  // "model", then the change that reproduces the device's answer
  std::vector<StageLine> stages;     // rows with those columns; empty if it was not explained
  std::string diagnosis;             // diagnosis of the stored answers, a sentence
  std::string command;               // shell command
  bool tile = false;                 // the minimal case is a whole tile

  // Whether `diagnosis` and `stages` say more than Finding::reason.
  bool diagnosed() const {
    return difference.empty() || !OnlyReasonExplains(finding.bucket, finding.reason);
  }
};

struct RateSeries {
  uint64_t begin = 0, end = 0;  // seconds since 1970 UTC; both 0 if unknown
  struct Machine {
    std::string name;
    std::vector<double> rates = {};  // dot products per second, in intervals of equal length
  };
  std::vector<Machine> machines;
};

// Changed models on which the run's strategy was tried again.
struct ReportMutants {
  uint64_t models = 0, of_models = 0;  // number of tried models, and of models in the run
  uint64_t cases = 0;                  // executions within which each had to differ
  uint64_t mutants = 0;
  struct Survivor {
    std::string instruction, change;
  };
  std::vector<Survivor> survivors;
};

struct WordsAtDistance {
  std::string distance;  // in ulps, or "special"
  uint64_t words;        // number of words at this distance
};

// One run, a folder or the folders of its shards, with the additional data of its page.
struct ReportRun : RunReport {           // its rows in the order of RunReportRow::state
  std::vector<ReportFinding> explained;  // the findings
  std::vector<Cross> crosses;            // coverage of all rows
  RateSeries rate;
  std::vector<WordsAtDistance> ulps;
  ReportMutants mutants;
};

// Findings explained by one change of the model, or a single finding without a change.
struct FindingGroup {
  std::string change;            // "fraction_bits=24"; empty for a single finding
  std::vector<size_t> findings;  // indices in ReportRun::explained, ascending
  uint64_t instructions = 0;
};
// The largest first.
std::vector<FindingGroup> GroupFindings(const ReportRun& run);
// "fraction_bits=24 explains all 14 instructions"; "" for a group of one instruction.
std::string Sentence(const FindingGroup& group, const ReportRun& run);

struct ReportData {
  std::vector<ReportRun> runs;             // in the order of their first folders
  std::vector<std::string> not_read = {};  // NotRead() of the folders
  bool damage = false;                     // one of them is damaged

  bool Damaged() const;
};

struct ReportOptions {
  std::vector<std::string> folders;  // at least one
  size_t explained = 20;             // number of buckets of a run to explain stage by stage
  size_t mutant_models = 8;          // number of models of a run to try; 0 for none
  uint64_t mutant_cases = 2000;      // maximum
};

// Each unit is counted once. Errors as for ReadManifests().
absl::StatusOr<ReportData> GatherReport(const ReportOptions& options, Console& console);

}  // namespace mmadiff
