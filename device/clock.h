// The monotonic clock, used for every duration.
#pragma once

#include <chrono>

#include "absl/time/time.h"

namespace mmadiff {

// The time since some moment before the program began.
inline absl::Duration MonotonicNow() {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace mmadiff
