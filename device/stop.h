// Why work ends before its natural end: a signal or a time limit.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace mmadiff {

// After HandleStopSignals(), the first SIGINT or SIGTERM is remembered; a second one ends the
// process with exit code 75.
void HandleStopSignals();
int StopSignal();  // 0: none

// How long to wait for something that may never arrive: a minute, or the number of seconds in an
// environment variable; kInvalidArgument if that is not a number above 0.
absl::StatusOr<absl::Duration> TimeoutOf(const char* variable);

// A duration on the monotonic clock, a moment on the wall clock, or both. Initially no limit.
class TimeLimit {
 public:
  static TimeLimit After(absl::Duration duration);  // from now
  void NotAfter(absl::Time moment) { moment_ = moment; }

  bool Reached() const { return Left() <= absl::ZeroDuration(); }
  absl::Duration Left() const;

 private:
  absl::Duration end_ = absl::InfiniteDuration();
  absl::Time moment_ = absl::InfiniteFuture();
};

// Why work ended before its natural end. Numbers are stored (proto StopCause).
struct StopCause {
  enum Kind : uint8_t {
    kNone,           // it did not
    kSignal,         // SIGINT or SIGTERM
    kTimeLimit,      // the limit of the command line
    kFolderFull,     // --max_bytes
    kBudget,         // --budget
    kMismatchLimit,  // --max_mismatches, over all operations
    kDeviceLost,     // it could not be opened again
    kNotDurable,     // results could not be written
  };
  Kind kind = kNone;
  int signal = 0;  // for kSignal

  explicit operator bool() const { return kind != kNone; }
  friend bool operator==(const StopCause&, const StopCause&) = default;
};
inline constexpr int kStopCauses = StopCause::kNotDurable + 1;
std::string Name(const StopCause& cause);  // "signal 15", "time limit"; "" for kNone

// kSignal, kTimeLimit, or kNone: work may continue.
StopCause StopNow(const TimeLimit& limit);

}  // namespace mmadiff
