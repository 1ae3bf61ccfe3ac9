// The differential run: units of cases over all instructions and threads, checkpointed so that a
// run can be killed at any moment and started again with nothing lost.
//
// A unit is done when its record in the work directory (fuzz/folder/workdir.h) is durable; starting again
// runs the units that are not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/cases/case_name.h"
#include "corpus/run_record.h"
#include "device/stop.h"
#include "fuzz/engine/engine.h"
#include "fuzz/output/console.h"
#include "fuzz/report/run_report.h"
#include "fuzz/schedule/class_schedule.h"

namespace mmadiff {

struct RunOptions {
  std::vector<const Operation*> ops;  // at least one
  const Strategy* strategy = nullptr;
  std::vector<ClassSchedule> schedules;  // of `ops`, if the strategy is Scheduled()
  uint64_t seed = 1;
  uint64_t cases = 1000000;  // per operation
  // Per operation: fewer cases where they are enough for these; 0: no matter.
  uint64_t dot_products = 0;
  bool forever = false;  // no end but the limit or a signal; `cases` is ignored
  int threads = 1;
  uint64_t max_mismatches = 20;    // mismatching cases after which an operation stops; 0: never
  uint64_t shard = 0, shards = 1;  // runs the units u with u % shards == shard
  TimeLimit limit;
  std::string workdir;
  std::vector<LeftOutLine> left_out;  // of what the command line asked for
  bool shared = false;                // write to `workdir` even if it is another user's
  bool anew = false;                  // begin again where all is done
  bool extend = false;                // raise the cases of the run that is in `workdir`
  bool print_findings = true;         // on stdout, as they are filed
};

// Executions of an operation in the whole run, all shards together; more than any run can do if
// `forever`.
uint64_t PlannedCases(const RunOptions& options, const Operation& op);

// The manifest that the options and the engine make.
RunManifest MakeManifest(const RunOptions& options, const Engine& engine);

// Errors before anything ran: those of Workdir::Claim(), or the device's own. A signal or the limit
// is seen inside a unit: it has one second to end, else its answers count in the report and the
// unit runs again.
absl::StatusOr<RunReport> ExecuteRun(const RunOptions& options, const EngineOpener& open,
                                     Console& console);

}  // namespace mmadiff
