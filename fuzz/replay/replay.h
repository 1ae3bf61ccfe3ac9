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
  // Cases (*.txtpb), vectors, recordings (folder, block log, line protocol), surveys, folders of them, or
  // case names, which need an engine.
  std::vector<std::string> subjects;
  // Glob: all else is left out. A name is also that of a line-protocol file that does not say it.
  std::string instr = {};
  uint64_t every = 1;         // of the digests in a recording folder those of every N-th unit
  uint64_t max_reports = 20;  // mismatches and flaky answers to report
  bool verbose = false;       // report each answer of a vector, also one that agrees
  bool test_results = false;  // one for each comparison
  bool update = false;        // write where findings move (fuzz/folder/finding_life.h)
  std::string why = {};       // with `update`: explains the findings that differ
  int threads = 1;            // of digests
  EngineOpener open = {};     // of the engines of all threads but one
};

// What one device answered.
struct ReplayTally {
  uint64_t compared = 0, differing = 0;  // dot products
  std::set<std::string> ops;
};

struct ReplayOutcome {
  uint64_t compared = 0, differing = 0;     // dot products, without what is flaky
  uint64_t units = 0, differing_units = 0;  // of digests, without what is flaky
  uint64_t answered() const { return compared + units; }
  uint64_t flaky = 0, flaky_units = 0;  // dot products; units of digests
  int unsupported = 0;  // cases of folders and vectors whose instructions the device lacks
  uint64_t unsupported_units = 0;  // of digests
  // Stored answers of operations without a model, which are never compared with one: dot products,
  // units of digests; of these those that the device was asked for again, and those that are not,
  // bit for bit, what it said (digests do not tell NaNs apart).
  uint64_t unmodelled = 0, unmodelled_units = 0;
  uint64_t repeated = 0, repeated_units = 0;
  uint64_t changed = 0, changed_units = 0;
  std::set<std::string> unmodelled_ops;
  uint64_t recorded = 0, recorded_twice = 0;  // of folders: dot products, and those asked twice
  uint64_t filed_flaky = 0;   // cases that are kept because the device did not repeat them
  Ledger ledger;              // of files and cases
  std::vector<Drop> dropped;  // operations that failed alone; the others went on
  // What the logs of surveys say beside their answers: rows that this version contradicts, rows that
  // trap, hang, fail, do not repeat or are elsewhere.
  int contradictions = 0, troubled = 0;
  std::vector<FindingMove> moves;              // of findings; the files say it if asked to
  absl::Status durable;                        // the first failure to write one
  bool damaged = false;                        // data that was skipped, which was warned of
  std::map<std::string, ReplayTally> tallies;  // by the identity of the device; not of vectors
  bool recordings = false;                     // a folder that holds recordings was replayed
  uint64_t vectors[4] = {};                    // dot products of vectors, by AnswerKind
  std::vector<TestResult> test_results;        // if the options ask for them; those of vectors last
};

// `engine`, if there is one, is asked instead of believing the stored answers, which then decide
// nothing: neither what differs nor what a survey said. `report` gets what differs, is flaky or, of
// vectors, contested, as it is found. Errors: a subject that there is not or that is no such thing; an
// `instr` that no table or no subject has; the
// device's that are not of one operation.
absl::StatusOr<ReplayOutcome> ReplaySubjects(const ReplayOptions& options, Engine* engine,
                                             OnReport report, Console& console);

}  // namespace mmadiff
