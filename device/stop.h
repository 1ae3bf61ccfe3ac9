// Why work ends before its natural end: a signal or a time limit.
#pragma once

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace mmadiff {

// The first SIGINT or SIGTERM after HandleStopSignals() is remembered; a second one ends the
// process with exit code 75.
void HandleStopSignals();
int StopSignal();  // 0: none

// How long to wait for what may never come: a minute, or the seconds that an environment variable
// says; kInvalidArgument if they are no number above 0.
absl::StatusOr<absl::Duration> TimeoutOf(const char* variable);

// A duration by the monotonic clock, a moment by the wall clock, or both. No limit at first.
class TimeLimit {
 public:
  static TimeLimit After(absl::Duration duration);  // from now
  void NotAfter(absl::Time moment) { moment_ = moment; }

  bool Reached() const { return Left() <= absl::ZeroDuration(); }
  absl::Duration Left() const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_ = Clock::time_point::max();
  absl::Time moment_ = absl::InfiniteFuture();
};

// "signal 15" or "time limit"; empty when work may go on.
std::string StopReason(const TimeLimit& limit);

}  // namespace mmadiff
