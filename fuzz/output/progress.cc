#include "fuzz/output/progress.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "device/clock.h"

namespace mmadiff {

std::string CountText(uint64_t n, absl::string_view what) {
  return absl::StrCat(n, " ", what, n == 1 ? "" : "s");
}

std::string CountOfText(uint64_t n, uint64_t all, absl::string_view what) {
  return absl::StrCat(n == all && all == 1 ? "" : absl::StrCat(n, " of "), CountText(all, what));
}

std::string HumanCount(double count) {
  constexpr const char* kUnits[] = {"", " k", " M", " G", " T"};
  int unit = 0;
  while (count >= 1000 && unit < 4) {
    count /= 1000;
    ++unit;
  }
  if (unit == 0) return absl::StrFormat("%.0f", count);
  return absl::StrFormat("%.*f%s", count < 10 ? 2 : count < 100 ? 1 : 0, count, kUnits[unit]);
}

void Progress::Update(uint64_t dot_products, uint64_t mismatching_cases) {
  const double seconds = absl::ToDoubleSeconds(MonotonicNow() - start_);
  const double rate = seconds > 0 ? static_cast<double>(dot_products) / seconds : 0;
  const std::string done = HumanCount(static_cast<double>(dot_products));
  std::string line = absl::StrCat("#", done, " dot products");
  if (total_ != 0) {  // at most 79 columns
    line = absl::StrFormat("#%.0f%%  %s of %s dot products",
                           100.0 * static_cast<double>(dot_products) / static_cast<double>(total_),
                           done, HumanCount(static_cast<double>(total_)));
  }
  absl::StrAppend(&line, "  ", HumanCount(rate), "/s  ", CountText(mismatching_cases, "case"),
                  mismatching_cases == 1 ? " differs" : " differ");
  if (total_ != 0 && rate > 0) {
    const double left = static_cast<double>(total_ - std::min(total_, dot_products)) / rate;
    const auto seconds_left = static_cast<int64_t>(std::min(left, 1e15));
    line += absl::StrFormat("  ETA %d:%02d:%02d", seconds_left / 3600, seconds_left / 60 % 60,
                            seconds_left % 60);
  }
  const bool milestone = dot_products >= milestone_;
  if (milestone) milestone_ = std::bit_ceil(dot_products + 1);
  console_.Status(line, milestone);
}

}  // namespace mmadiff
