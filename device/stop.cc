#include "device/stop.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "device/clock.h"

namespace mmadiff {
namespace {

std::atomic<int> stop_signal = 0;
std::atomic<int64_t> stopped_at = 0;  // milliseconds

// The child of coreutils' `timeout` receives the same signal twice: directly, and as a member of
// its group.
constexpr int64_t kOnce = 500;

extern "C" void OnStopSignal(int signal) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t at = now.tv_sec * 1000 + now.tv_nsec / 1000000;
  if (stop_signal.exchange(signal) == 0) {
    stopped_at = at;
  } else if (at - stopped_at >= kOnce) {
    _exit(75);
  }
}

}  // namespace

void HandleStopSignals() {
  struct sigaction action = {};
  action.sa_handler = OnStopSignal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int StopSignal() { return stop_signal; }

absl::StatusOr<absl::Duration> TimeoutOf(const char* variable) {
  const char* set = std::getenv(variable);
  double seconds = 60;
  if (set != nullptr && !(absl::SimpleAtod(set, &seconds) && seconds > 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat(variable, ": '", set, "' is not a number of seconds above 0"));
  }
  return absl::Seconds(seconds);
}

TimeLimit TimeLimit::After(absl::Duration duration) {
  TimeLimit limit;
  limit.end_ = MonotonicNow() + duration;
  return limit;
}

absl::Duration TimeLimit::Left() const {
  return std::min(end_ - MonotonicNow(), moment_ - absl::Now());
}

std::string Name(const StopCause& cause) {
  constexpr const char* kNames[kStopCauses] = {
      "",       "signal",         "time limit",  "folder full",
      "budget", "mismatch limit", "device lost", "not durable"};
  const char* name = kNames[cause.kind];
  return cause.kind == StopCause::kSignal ? absl::StrCat(name, " ", cause.signal) : name;
}

StopCause StopNow(const TimeLimit& limit) {
  if (const int signal = StopSignal(); signal != 0) return {StopCause::kSignal, signal};
  return {limit.Reached() ? StopCause::kTimeLimit : StopCause::kNone};
}

}  // namespace mmadiff
