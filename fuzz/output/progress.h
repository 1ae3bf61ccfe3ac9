// The progress line of a run: done, rate, time left.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "device/clock.h"
#include "fuzz/output/console.h"

namespace mmadiff {

// "1.23 G", "45.0 M", "999".
std::string HumanCount(double count);
// "1 case", "2 cases".
std::string CountText(uint64_t n, absl::string_view what);
// "2 of 3 cases"; "1 case" of one.
std::string CountOfText(uint64_t n, uint64_t all, absl::string_view what);

class Progress {
 public:
  // total: number of planned dot products; 0 if endless.
  Progress(uint64_t total, Console& console) : total_(total), console_(console) {}

  // Prints if it is time to: in a log, at powers of two of the dot products and once a minute.
  void Update(uint64_t dot_products, uint64_t mismatching_cases);

 private:
  const uint64_t total_;
  Console& console_;
  const absl::Duration start_ = MonotonicNow();
  uint64_t milestone_ = 1 << 20;
};

}  // namespace mmadiff
