// Asks a device the questions of triage/probe/questions.h about many operations, and files its
// answers.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/stop.h"
#include "fuzz/engine/engine.h"
#include "fuzz/output/console.h"
#include "fuzz/verdict/drop.h"
#include "triage/probe/probe.h"

namespace mmadiff {

struct ProberOptions {
  std::vector<const Operation*> ops;       // supported by the device; with or without a model
  std::vector<const Question*> questions;  // in the order of Questions()
  // After the limit or a signal (device/stop.h), no operation except the first is begun. kPairs
  // gets the time that the other questions leave.
  TimeLimit limit;
  // An existing folder. Receives a file for each operation with every case and its answer, and
  // regression cases for unexplained answers. Empty: nothing is filed.
  std::string folder;
  int threads = 1;
  EngineOpener open = {};  // opens the engines of all threads except the first
};

struct ProberOutcome {
  std::vector<Drop> dropped;           // operations that failed alone or have a different layout
  std::vector<const Operation*> late;  // operations cut short by the time limit or a signal
};

using OnAnswer = absl::FunctionRef<void(const Operation&, const ProbeAnswer&)>;

// Checks the layouts of all operations first; an operation with a wrong layout gets no other
// questions. Pairs come last, and only for operations whose other answers have an explanation. If a
// single operation fails, a warning is printed and the others continue. Errors: device errors that
// do not concern a single operation; kDataLoss if a file could not be written. `answered` is called
// before an answer is filed.
absl::StatusOr<ProberOutcome> ProbeOperations(const ProberOptions& options, Engine& engine,
                                              OnAnswer answered, Console& console);

}  // namespace mmadiff
