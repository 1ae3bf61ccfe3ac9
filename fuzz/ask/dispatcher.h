// Runs the tasks of an agenda on a device: hands them to workers, one a thread, and says what an
// error of the device means.
//
//   status of a task                    what follows
//   kNotFound                           the row is dropped (kLacks)
//   kFailedPrecondition                 dropped (kLayout)
//   kDataLoss                           dropped (kGarbled)
//   kUnavailable, kDeadlineExceeded     the device is lost: the work ends
//   kCancelled                          the work ends, which a signal or the limit wanted
//   any other                           dropped (kFails); of a self-test kSelfTest
//
// When the work must end, no further task comes from the agenda but those that follow a result.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "device/stop.h"
#include "fuzz/ask/agenda.h"
#include "fuzz/ask/drop.h"
#include "fuzz/ask/worker.h"
#include "fuzz/console.h"

namespace mmadiff {

struct DispatchOptions {
  TimeLimit limit;
  // After a signal or the limit, tasks get this long to end by themselves.
  absl::Duration grace = absl::Seconds(1);
};

struct DispatchOutcome {
  StopCause stopped_by;
  absl::Status device, durable;    // not OK: it failed, and the work ended
  std::vector<Drop> drops;         // one for each row, in the order in which they happened
  std::vector<Hardware> hardware;  // of each worker, those that are known
  std::vector<std::string> warnings;
  absl::Duration time;
};

// Returns when the agenda is done, on a signal or the limit, when results cannot be stored, or when
// the device is lost. A result goes to the log, then to the agenda; a drop also to the console.
DispatchOutcome Dispatch(const DispatchOptions& options,
                         std::span<const std::unique_ptr<Worker>> workers, Agenda& agenda,
                         TaskLog& log, Console& console);

}  // namespace mmadiff
