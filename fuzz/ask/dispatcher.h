// Runs the tasks of an agenda on a device: distributes them to workers, one per thread, and
// interprets the device's errors.
//
//   status of a task    first time                          second time, alone in a fresh process
//   kNotFound           the row is dropped (kLacks)         the same
//   kFailedPrecondition dropped (kLayout)                   the same
//   kAborted            dropped (kDoesNotRepeat)            the same
//   kDataLoss           asked again                         dropped (kGarbled)
//   kUnavailable        asked again                         dropped (kCrashes), with its input
//   kDeadlineExceeded   asked again                         dropped (kHangs), with its input
//   kCancelled          a signal or the limit ends the work the same
//   any other           dropped (kFails)                    the same
//
// A failure on a single input (FailureOf()) is not a device error for `run`, which files it; other
// verbs get kInternal. A device that crashes or hangs for the second time, and then on zeros too
// (`Worker::Lives`), is lost, which ends the work. A failed self-test drops the row (kSelfTest).
// For surveys, CauseOf() lists the answers that drop a row. A worker that cannot restart has no
// second try: kDataLoss drops the row at once; kUnavailable and kDeadlineExceeded mean that the
// device is lost, which ends the work. A task with several questions is split for the second try. A
// device that fails to open is tried `open_tries` times; then it is lost, and the row of the last
// task gets a kDeviceGone.
//
// When the work must end, the agenda supplies no further tasks except those that follow a result.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "device/stop.h"
#include "fuzz/ask/agenda.h"
#include "fuzz/ask/worker.h"
#include "fuzz/output/console.h"
#include "fuzz/verdict/drop.h"

namespace mmadiff {

struct DispatchOptions {
  TimeLimit limit;
  // After a signal or the limit, tasks get this long to end by themselves.
  absl::Duration grace = absl::Seconds(1);
  int open_tries = 3;                          // for a device that fails to open again
  absl::Duration patience = absl::Seconds(1);  // before try N + 1: N times this
};

struct DispatchOutcome {
  StopCause stopped_by;
  absl::Status device, durable;    // not OK: the error that ended the work
  std::vector<Drop> drops;         // the first of each row, in chronological order
  std::vector<Hardware> hardware;  // one per worker, if known
  std::vector<std::string> warnings;
  absl::Duration time;
};

// Returns when the agenda is done, on a signal or the limit, if results cannot be stored, or if the
// device is lost. Each result goes to the log, then to the agenda; a drop also to the console.
DispatchOutcome Dispatch(const DispatchOptions& options,
                         std::span<const std::unique_ptr<Worker>> workers, Agenda& agenda,
                         TaskLog& log, Console& console);

}  // namespace mmadiff
