// Records a device: into a folder (corpus/recordings/recording_folder.h) raw answers to the first
// cases of every strategy, to regression cases and to vectors, and digests of as many more as the
// time allows; or into a block log raw answers to the first cases of one strategy.
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
  uint64_t cases =
      4096;  // raw answers to so many executions; in a folder at most, of each strategy
  uint64_t seed = 1;
  const Strategy* strategy = nullptr;  // of a log, or of the digests of a folder
  // Of a folder:
  uint64_t max_bytes = 0;        // of all files together
  TimeLimit limit = {};          // of the digests but for the first of each operation
  std::string regressions = {};  // folder with a folder of cases for each architecture; empty: none
  int threads = 1;               // of the digests
  EngineOpener open = {};        // of the engines of all threads but one
};

struct RecordOutcome {
  uint64_t raw_dot_products = 0, regressions = 0, digest_units = 0, digest_dot_products = 0;
  uint64_t repeated = 0;                   // of the raw dot products, those that were asked twice
  int without_digests = 0;                 // operations for which there was no room
  bool stopped = false;                    // by a signal, which ended the digests
  std::vector<const Operation*> recorded;  // of which it has answers
  // Failed alone; the others went on. What was recorded of them before stays.
  std::vector<Drop> dropped;
};

// A recording is whole or not there. Errors, with which nothing is left: kAlreadyExists when there
// is something of that name; kInvalidArgument when max_bytes are too few for a few raw cases of each
// operation, with the number needed; kDataLoss when a file could not be written; kAborted for a
// damaged regression case, an answer that cannot be trusted when there are others already, or one that
// the device does not repeat;
// kUnavailable after a signal before all raw answers are there; else the device's error, that of the
// first operation if none answers.
absl::StatusOr<RecordOutcome> RecordFolder(const RecordOptions& options, Engine& engine,
                                           const std::string& folder, Console& console);

// The same; if no operation answers, raw_dot_products is 0, and there is no file.
absl::StatusOr<RecordOutcome> RecordLog(const RecordOptions& options, Engine& engine,
                                        const std::string& path, Console& console);

}  // namespace mmadiff
