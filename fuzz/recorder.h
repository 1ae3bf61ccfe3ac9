// Records a device into a folder (corpus/recordings/recording_folder.h): raw answers to the first
// cases of every strategy, to regression cases and to vectors, and digests of as many more as the
// time allows; and verifies the digests again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/recordings/recording.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/run_record.h"
#include "device/stop.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/console.h"
#include "fuzz/engine.h"

namespace mmadiff {

struct RecorderOptions {
  std::vector<const Operation*> ops;  // at least one; the device supports them all
  uint64_t cases = 4096;              // raw answers to at most so many executions of each strategy
  uint64_t seed = 1;
  const Strategy* strategy = nullptr;  // of the digests
  uint64_t max_bytes = 0;              // of all files together
  TimeLimit limit;  // of the digests but for the first of each operation and the raw answers
  std::string regressions;  // folder with a folder of cases for each architecture; empty: none
  int threads = 1;          // of the digests
  EngineOpener open = {};   // of the engines of all threads but one
};

struct RecorderOutcome {
  uint64_t raw_dot_products = 0, regressions = 0, digest_units = 0, digest_dot_products = 0;
  int without_digests = 0;  // operations for which there was no room
  bool stopped = false;     // by a signal, which ended the digests
  // What failed on an operation alone; the others went on.
  std::map<std::string, absl::Status> dropped;
};

// kAlreadyExists when `folder` is there; kInvalidArgument when max_bytes are too few for a few raw
// cases of each operation, with the number needed; kDataLoss when a file could not be made durable;
// kAborted for a damaged regression case; kUnavailable after SIGINT or SIGTERM before there are digests; else the device's error. On any
// error nothing is left. An operation that fails alone (IsOfOperation) in its first answer, layout and self-test among it,
// has no part in the recording; one that fails later keeps what was recorded of it before.
absl::StatusOr<RecorderOutcome> RecordFolder(const RecorderOptions& options, Engine& engine,
                                             const std::string& folder, Console& console);

// One recorded unit of digests, computed again.
struct RecomputedUnit {
  CaseStream stream;
  uint64_t first = 0, cases = 0;
  std::string identity;  // of the recorded device
  Digest recorded = 0;
  std::optional<Digest> model;                       // nothing when the operation has none
  std::vector<absl::StatusOr<Digest>> answers = {};  // of a device, by RecomputeOptions::also
};

struct RecomputeOptions {
  uint64_t every = 1;  // of so many units one
  int threads = 1;
  // What is asked besides, in the thread that computed the unit.
  std::function<void(RecomputedUnit&, int thread)> also = {};
};

// Units of digests that the model, where there is one, computes again.
class Recomputation {
 public:
  // kDataLoss for digests that no recorder writes: of another operation's cases, or of units too
  // large.
  absl::Status Add(const RecordedDigests& digests, const std::string& where);
  // Delivers the units of all that was added, one after the other.
  absl::Status Run(const RecomputeOptions& options,
                   const std::function<absl::Status(const RecomputedUnit&)>& deliver) const;

 private:
  struct Digests {
    RecordedDigests recorded;
    CaseStream stream;
  };

  std::vector<Digests> all_;
};

// All of a folder. Returns the damage of the folder's digests.
absl::StatusOr<std::vector<Damage>> VerifyDigests(
    const std::string& folder, const RecomputeOptions& options,
    const std::function<absl::Status(const RecomputedUnit&)>& deliver);

// The number of executions of each strategy that are recorded raw of each operation: at least
// kFewCases, at most `cases`, so that all fit `bytes`. Operations that need less leave their share
// to the others.
inline constexpr uint64_t kFewCases = 3;
absl::StatusOr<std::vector<uint64_t>> PlanRawCases(const std::vector<const Operation*>& ops,
                                                   const std::string& identity, uint64_t cases,
                                                   uint64_t bytes);

}  // namespace mmadiff
