// The differential run: units of cases over all instructions and threads, checkpointed so that a
// run can be killed at any moment and started again with nothing lost.
//
// A unit is done when its record in the work directory (fuzz/workdir.h) is durable; starting again
// runs the units that are not.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/run_record.h"
#include "device/stop.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/class_schedule.h"
#include "fuzz/console.h"
#include "fuzz/engine.h"
#include "fuzz/findings.h"
#include "fuzz/report/run_report.h"

namespace mmadiff {

struct CampaignOptions {
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
  bool anew = false;           // begin again where all is done
  bool extend = false;         // raise the cases of the run that is in `workdir`
  bool print_findings = true;  // on stdout, as they are filed
};

// Executions of an operation in the whole run, all shards together; more than any run can do if
// `forever`.
uint64_t PlannedCases(const CampaignOptions& options, const Operation& op);

struct OperationOutcome {
  const Operation* op = nullptr;
  std::string planted;  // the fault that the operation's self-test planted, and when it was found
  uint64_t planned_cases = 0;  // of this shard
  UnitResult total;            // over all attempts; digests only over finished units
  bool finished = false;       // every unit of the shard is done
  bool stopped = false;        // too many mismatches
  absl::Status dropped;        // not OK: what failed on this operation alone; the others went on
  bool emulated = false;       // by the device, with several machine instructions
  // Dot products that one process of a device that starts anew is asked for, at most; 0: it goes on.
  uint64_t process_dot_products = 0;
};

struct CampaignOutcome {
  RunManifest manifest;
  std::string workdir;
  int threads = 1;
  std::vector<OperationOutcome> ops;
  std::vector<Finding> findings;  // of this attempt, and those that earlier ones left
  uint64_t units = 0;             // of this shard; 0 of a run without an end
  uint64_t resumed_units = 0;     // done by earlier attempts
  uint64_t attempt_units = 0;     // done by this one
  double seconds = 0;             // of this attempt
  uint64_t attempt_dot_products = 0;
  StopCause stopped_by;
  std::vector<Hardware> hardware;  // of each thread's device, those that are known
  absl::Status device;             // not OK: the device failed and the run stopped
  absl::Status durable;            // not OK: results could not be made durable and the run stopped
  std::vector<std::string> warnings;
  std::vector<std::string> distrusted;  // "OPERATION: why": answers lost in earlier attempts
  bool damaged_findings = false;        // of earlier attempts; `warnings` says which
};

// The same with what this attempt says.
RunReport ReportOf(const CampaignOutcome& outcome);

// The manifest that the options and the engine make.
RunManifest MakeManifest(const CampaignOptions& options, const Engine& engine);

// Errors before anything ran: those of Workdir::Claim(), or the device's own. A signal or the limit
// is seen inside a unit: it has one second to end, else its answers count in the outcome and the
// unit runs again.
absl::StatusOr<CampaignOutcome> RunCampaign(const CampaignOptions& options,
                                            const EngineOpener& open, Console& console);

}  // namespace mmadiff
