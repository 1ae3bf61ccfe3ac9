// The differential run: units of cases over all instructions and threads. A run can be killed at
// any moment and resumed; finished units are not lost.
//
// A unit is done when its record in the work directory (fuzz/folder/workdir.h) is durable. A
// resumed run executes the other units.
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
  std::vector<ClassSchedule> schedules;  // by index in `ops`, if the strategy is Scheduled()
  uint64_t seed = 1;
  uint64_t cases = 1000000;  // per operation
  // Per operation: lowers `cases` where fewer give this many dot products. 0: no effect.
  uint64_t dot_products = 0;
  bool forever = false;  // ends only at the limit or on a signal; ignores `cases`
  int threads = 1;
  uint64_t max_mismatches = 20;    // mismatching cases that stop an operation; 0: never
  uint64_t shard = 0, shards = 1;  // runs the units u with u % shards == shard
  TimeLimit limit;
  std::string workdir;
  std::vector<LeftOutLine> left_out;  // requested on the command line but left out
  bool shared = false;                // write to `workdir` even if a different user owns it
  bool anew = false;                  // start over if everything is done
  bool extend = false;                // raise the number of cases of the run in `workdir`
  bool print_findings = true;         // on stdout, when they are filed
};

// Executions of an operation in the whole run, over all shards. If `forever`: more than any run can
// do.
uint64_t PlannedCases(const RunOptions& options, const Operation& op);

// The manifest for these options and this engine.
RunManifest MakeManifest(const RunOptions& options, const Engine& engine);

// Returns an error only before anything ran: from Workdir::Claim() or from the device. A signal or
// the limit is also noticed inside a unit, which then has one second to end. If it does not, its
// answers so far count in the report, and the unit runs again.
absl::StatusOr<RunReport> ExecuteRun(const RunOptions& options, const EngineOpener& open,
                                     Console& console);

}  // namespace mmadiff
