// Records a device, either into a folder or into a block log. A folder
// (corpus/recordings/recording_folder.h) gets raw answers to the first cases of every strategy, to
// regression cases and to vectors, and digests of as many more cases as the time allows. A block
// log gets raw answers to the first cases of one strategy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/cases/case_name.h"
#include "device/stop.h"
#include "fuzz/engine/engine.h"
#include "fuzz/output/console.h"
#include "fuzz/verdict/drop.h"

namespace mmadiff {

struct RecordOptions {
  std::vector<const Operation*> ops;  // at least one; the device supports them all
  uint64_t cases = 4096;  // executions with raw answers; in a folder: per strategy, at most
  uint64_t seed = 1;
  const Strategy* strategy = nullptr;  // for a log, or for the digests of a folder
  // For a folder only:
  uint64_t max_bytes = 0;        // total size of all files
  TimeLimit limit = {};          // for the digests, except the first of each operation
  std::string regressions = {};  // folder with a folder of cases for each architecture; empty: none
  int threads = 1;               // for the digests
  EngineOpener open = {};        // opens the engines of all threads except the first
};

struct RecordOutcome {
  uint64_t raw_dot_products = 0, regressions = 0, digest_units = 0, digest_dot_products = 0;
  uint64_t repeated = 0;                   // raw dot products that were executed twice
  int without_digests = 0;                 // operations without room for digests
  bool stopped = false;                    // a signal ended the digests
  std::vector<const Operation*> recorded;  // operations with answers
  // Operations that failed alone; the others continued. Answers recorded earlier are kept.
  std::vector<Drop> dropped;
};

// A recording is either complete or does not exist: after an error nothing is left. Errors:
// kAlreadyExists if the path exists; kInvalidArgument if max_bytes is too small for a few raw cases
// of each operation, with the number needed; kDataLoss if a file could not be written; kAborted for
// a damaged regression case, for an untrustworthy answer after others were recorded, or for an
// answer that the device does not repeat; kUnavailable after a signal before all raw answers are
// stored; otherwise the device's error, that of the first operation if no operation answers.
absl::StatusOr<RecordOutcome> RecordFolder(const RecordOptions& options, Engine& engine,
                                           const std::string& folder, Console& console);

// The same, except that if no operation answers, raw_dot_products is 0 and no file is written.
absl::StatusOr<RecordOutcome> RecordLog(const RecordOptions& options, Engine& engine,
                                        const std::string& path, Console& console);

}  // namespace mmadiff
