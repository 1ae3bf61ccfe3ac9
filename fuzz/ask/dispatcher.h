// Runs the tasks of an agenda on a device: hands them to workers, one a thread, and says what an
// error of the device means.
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
// What fails on one input alone (FailureOf()) is no error of the device to `run`, which files it; to others it is kInternal.
// A device that crashes or hangs for the second time, and then on zeros too (Worker::Lives), is lost,
// which ends the work. A self-test that fails is kSelfTest. Answers of a survey that mean a drop are
// those of CauseOf().
// A worker that cannot start afresh has no second time: kDataLoss drops the row at once, and
// kUnavailable and kDeadlineExceeded lose the device, which ends the work. Several questions are
// split before the second time. A device that does not open is tried `open_tries` times; then it is
// lost, and the row that was asked before gets a kDeviceGone.
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
#include "fuzz/ask/worker.h"
#include "fuzz/output/console.h"
#include "fuzz/verdict/drop.h"

namespace mmadiff {

struct DispatchOptions {
  TimeLimit limit;
  // After a signal or the limit, tasks get this long to end by themselves.
  absl::Duration grace = absl::Seconds(1);
  int open_tries = 3;                          // of a device that does not open any more
  absl::Duration patience = absl::Seconds(1);  // before try N + 1: N times this
};

struct DispatchOutcome {
  StopCause stopped_by;
  absl::Status device, durable;    // not OK: it failed, and the work ended
  std::vector<Drop> drops;         // the first of each row, in the order in which they happened
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
