// What a report says of finished or unfinished runs, gathered from their folders. The writers
// (html_page.h, plain_pages.h) only print it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/run_record.h"
#include "fuzz/console.h"
#include "fuzz/findings.h"
#include "fuzz/page/crosses.h"
#include "triage/explain_text.h"

namespace mmadiff {

// One instruction of a run.
struct ReportRow {
  enum Kind { kDiffers, kFlaky, kIncomplete, kNothing, kAgrees };  // the gravest first

  std::string name;            // ARCH/INSTRUCTION
  UnitResult total;            // over all finished units
  uint64_t planned_cases = 0;  // of the shards that are named; 0 of a run without an end
  bool finished = false;       // all of them are done
  bool emulated = false;       // by the device, with several machine instructions
  Kind kind = kNothing;
  double bound = 0;     // 3/N: the rate of differences is below it (95 %); 0: some, or no N
  std::string grade;    // of the model; empty if this program has none
  std::string verdict;  // a phrase
  std::vector<std::string> empty_classes;  // of inputs that no case had
  std::vector<std::string> missing_bins;   // of coverage, reached less often than they must be
};

// One bucket, with its minimal case explained.
struct ReportFinding {
  Finding finding;
  std::string minimal;     // its operands that are not +0, lines
  std::string difference;  // both words bit by bit, lines; empty: the stored answer is the model's
  std::vector<std::string> columns;  // "model", the change that gives the device's answer
  std::vector<StageLine> stages;     // with those columns; empty if it was not explained
  std::string diagnosis;             // of the stored answers, a sentence
  std::string command;               // to type in a shell
};

// Dot products a second by machine, in intervals of equal length.
struct RateSeries {
  uint64_t begin = 0, end = 0;  // seconds since 1970 UTC; both 0: not known
  std::vector<std::string> machines;
  std::vector<std::vector<double>> rates;  // by machine, then interval
};

// Changed models that the run's strategy was tried on again.
struct ReportMutants {
  uint64_t models = 0, of_models = 0;  // tried, and of how many in the run
  uint64_t cases = 0;                  // executions in which each had to differ
  uint64_t mutants = 0;
  std::vector<std::pair<std::string, std::string>> survivors;  // instruction, change
};

// One run: a folder, or the folders of its shards.
struct ReportRun {
  RunManifest manifest;  // of the whole run
  std::vector<std::string> folders;
  uint64_t shards = 1;                    // that the run has; `seen` of them are named
  std::vector<uint64_t> seen;             // ascending
  bool endless = false;                   // of --forever
  std::vector<ReportRow> rows;            // in the order of ReportRow::kind, then of the manifest
  UnitResult total;                       // of all rows
  uint64_t units = 0, planned_units = 0;  // of the shards that are named
  std::string digest;                 // of the device's results; empty while a row is unfinished
  std::vector<std::string> machines;  // that did units, sorted
  std::vector<ReportFinding> findings;
  std::vector<std::string> distrusted;  // "OPERATION: why"
  std::vector<std::string> damage;      // the good was read; two answers to one unit, too
  std::vector<Cross> crosses;           // coverage of all rows
  RateSeries rate;
  std::vector<std::pair<std::string, uint64_t>> ulps;  // distance, words that differ so much
  ReportMutants mutants;

  uint64_t Count(ReportRow::Kind kind) const;
  // What came of it, one sentence or two.
  std::string Verdict() const;
};

struct ReportData {
  std::vector<ReportRun> runs;  // in the order of their first folders

  bool Damaged() const;
};

struct ReportOptions {
  std::vector<std::string> folders;  // at least one
  size_t explained = 20;             // buckets of a run that are explained stage by stage
  size_t mutant_models = 8;          // of a run; 0: none is tried
  uint64_t mutant_cases = 2000;      // at most
};

// Each unit is counted once. kInvalidArgument: no folder of a run; kDataLoss: a damaged manifest or
// a log that cannot be read.
absl::StatusOr<ReportData> GatherReport(const ReportOptions& options, Console& console);

}  // namespace mmadiff
