// Compares the model with stored answers, or with a device on the stored inputs: cases, vectors,
// recordings.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/ledger.h"
#include "corpus/vector_file.h"
#include "fuzz/engine/engine.h"
#include "fuzz/folder/finding_life.h"
#include "fuzz/output/console.h"
#include "fuzz/output/junit.h"
#include "fuzz/replay/replay_report.h"
#include "fuzz/verdict/drop.h"

namespace mmadiff {

struct ReplayOptions {
  // Cases (*.txtpb), vectors, recordings (folder, block log, line protocol), surveys, folders of
  // them, or case names, which need an engine.
  std::vector<std::string> subjects;
  // Glob of instructions to replay. A plain name also applies to line-protocol files without a
  // name.
  std::string instr = {};
  uint64_t every = 1;         // compare the digests of every N-th unit in a recording folder
  uint64_t max_reports = 20;  // mismatches and flaky answers to report
  bool verbose = false;       // report every answer of a vector, even if it agrees
  bool test_results = false;  // produce one test result per comparison
  bool update = false;        // write the new states of findings (fuzz/folder/finding_life.h)
  std::string why = {};       // with `update`: explanation for the findings that differ
  int threads = 1;            // for digests
  EngineOpener open = {};     // opens the engines of all threads except the first
};

// The results for one device.
struct ReplayTally {
  uint64_t compared = 0, differing = 0;  // dot products
  std::set<std::string> ops;
};

struct ReplayOutcome {
  uint64_t compared = 0, differing = 0;     // dot products, excluding flaky ones
  uint64_t units = 0, differing_units = 0;  // units of digests, excluding flaky ones
  uint64_t units_of_nans = 0;               // of `units`: RecomputedUnit::nans_only
  uint64_t answered() const { return compared + units; }
  uint64_t flaky = 0, flaky_units = 0;  // dot products; units of digests
  int unsupported = 0;  // cases of folders and vectors whose instructions the device lacks
  uint64_t unsupported_units = 0;  // units of digests
  // Stored answers of operations without a model, as dot products and units of digests. `repeated`:
  // those that the device executed again. `changed`: those of the latter whose new answer is not
  // equal bit for bit (digests do not distinguish NaNs).
  uint64_t unmodelled = 0, unmodelled_units = 0;
  uint64_t repeated = 0, repeated_units = 0;
  uint64_t changed = 0, changed_units = 0;
  std::set<std::string> unmodelled_ops;
  // Recorded digests whose cases the device answered; those of them equal to the device's.
  uint64_t digests_answered = 0, digests_as_recorded = 0;
  uint64_t recorded = 0, recorded_twice = 0;  // dot products in folders; those executed twice
  uint64_t filed_flaky = 0;   // cases filed because the device did not repeat its answer
  Ledger ledger;              // for files and cases
  std::vector<Drop> dropped;  // operations that failed alone; the others continued
  // Results in the logs of surveys: contradictions with this version's tables; rows that trap,
  // hang, fail, do not repeat or have a different layout.
  int contradictions = 0, troubled = 0;
  std::vector<FindingMove> moves;              // moves of findings; written to files if `update`
  absl::Status durable;                        // the first failure to write one
  bool damaged = false;                        // data was skipped, with a warning
  std::map<std::string, ReplayTally> tallies;  // by identity of the device; without vectors
  bool recordings = false;                     // a folder with recordings was replayed
  uint64_t vectors[4] = {};                    // dot products of vectors, by AnswerKind
  std::vector<TestResult> test_results;        // if requested; those of vectors last
};

// If `engine` is not null, its answers are compared, with recorded digests too. Other stored answers and
// the results of surveys do not count then. `report` is called for each mismatch, flaky answer and contested vector as
// it is found. Errors: a subject that does not exist or cannot be replayed; an `instr` that no
// table or no subject has; device errors that do not concern a single operation.
absl::StatusOr<ReplayOutcome> ReplaySubjects(const ReplayOptions& options, Engine* engine,
                                             OnReport report, Console& console);

}  // namespace mmadiff
