// Asks a device the questions of triage/probe/questions.h about many operations, and files what it
// says.
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
  std::vector<const Operation*> ops;       // that the device supports, with and without a model
  std::vector<const Question*> questions;  // in the order of Questions()
  // After it, or a signal (device/stop.h), no operation is begun but the first; kPairs gets what the
  // other questions leave.
  TimeLimit limit;
  // A file for each operation with every case and its answer, and the cases that nothing explains
  // as regression cases; it exists. Empty: nothing is filed.
  std::string folder;
  int threads = 1;
  EngineOpener open = {};  // of the engines of all threads but one
};

struct ProberOutcome {
  std::vector<Drop> dropped;           // failed alone, or have another layout
  std::vector<const Operation*> late;  // were not asked all: the time was over, or a signal came
};

using OnAnswer = absl::FunctionRef<void(const Operation&, const ProbeAnswer&)>;

// Layouts of all operations first: where one is wrong, nothing else is asked of the operation.
// Pairs last, and of no operation of which nothing explains the other answers. An operation that
// fails alone is warned of, and the others go on. Errors: the device's that are not of one
// operation; kDataLoss, what could not be filed. `answered` is called before an answer is filed.
absl::StatusOr<ProberOutcome> ProbeOperations(const ProberOptions& options, Engine& engine,
                                              OnAnswer answered, Console& console);

}  // namespace mmadiff
