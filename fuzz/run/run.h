// The differential run: units of cases over all instructions and threads. Progress is stored, so a
// run can be killed at any moment and resumed.
//
// A unit is done once its record in the work directory (fuzz/folder/workdir.h) is durable. Resuming
// runs the units that are not done.
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
  std::vector<ClassSchedule> schedules;  // one for each of `ops`, if the strategy is Scheduled()
  uint64_t seed = 1;
  uint64_t cases = 1000000;  // per operation
  // Per operation: limits the cases to those needed for this number of dot products; 0: no limit.
  uint64_t dot_products = 0;
  bool forever = false;  // ends only at the limit or on a signal; `cases` is ignored
  int threads = 1;
  uint64_t max_mismatches = 20;    // mismatching cases after which an operation stops; 0: never
  uint64_t shard = 0, shards = 1;  // runs the units u with u % shards == shard
  TimeLimit limit;
  std::string workdir;
  std::vector<LeftOutLine> left_out;  // requested on the command line, but left out
  bool shared = false;                // write to `workdir` even if another user owns it
  bool anew = false;                  // start over if everything is done
  bool extend = false;                // raise the cases of the run in `workdir`
  bool print_findings = true;         // on stdout, as they are filed
};

// Executions of an operation in the whole run, over all shards; more than any run can execute if
// `forever`.
uint64_t PlannedCases(const RunOptions& options, const Operation& op);

// The manifest for the options and the engine.
RunManifest MakeManifest(const RunOptions& options, const Engine& engine);

// Errors, before anything ran: those of Workdir::Claim(), or the device's own. On a signal or at
// the limit, a running unit has one second to end. If it does not end by then, its answers count in
// the report and the unit runs again later.
absl::StatusOr<RunReport> ExecuteRun(const RunOptions& options, const EngineOpener& open,
                                     Console& console);

}  // namespace mmadiff
