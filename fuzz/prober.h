// Asks a device the questions of triage/probe/question.h about many rows, and files what it says.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/stop.h"
#include "fuzz/console.h"
#include "fuzz/engine.h"
#include "triage/probe/probe.h"

namespace mmadiff {

struct ProberOptions {
  std::vector<const Row*> rows;            // that the device supports
  std::vector<const Question*> questions;  // in the order of Questions()
  // After it no row is begun but the first; kPairs gets what the other questions leave.
  TimeLimit limit;
  // A file for each row with every case and its answer, and the cases that nothing explains as
  // regression cases; it exists. Empty: nothing is filed.
  std::string folder;
};

struct ProberOutcome {
  std::vector<absl::Status> dropped;  // of rows that failed alone or have another layout
  std::vector<const Row*> late;       // were not asked all: the time was over
};

using OnAnswer = std::function<void(const Row&, const ProbeAnswer&)>;

// Layouts of all rows first: where one is wrong, nothing else is asked of the row. Pairs last, and
// of no row of which nothing explains the other answers. A row that fails alone is warned of, and
// the others go on. Errors: the device's that are not of one row; kDataLoss, what could not be
// filed. `answered` is called before an answer is filed.
absl::StatusOr<ProberOutcome> ProbeRows(const ProberOptions& options, Engine& engine,
                                        const OnAnswer& answered, Console& console);

}  // namespace mmadiff
