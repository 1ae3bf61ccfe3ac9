// Stored and printed form of times.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace mmadiff {

// "2026-01-31T06:00:00Z", RFC 3339.
inline std::string UtcTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}
// `seconds` since 1970; "" for 0, an unknown time.
inline std::string UtcTime(uint64_t seconds) {
  return seconds == 0 ? "" : UtcTime(absl::FromUnixSeconds(static_cast<int64_t>(seconds)));
}
inline std::string UtcNow() { return UtcTime(absl::Now()); }

}  // namespace mmadiff
