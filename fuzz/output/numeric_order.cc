#include "fuzz/output/numeric_order.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/ascii.h"

namespace mmadiff {
namespace {

// Takes the digits at the front, without leading zeros.
absl::string_view TakeNumber(absl::string_view& text) {
  size_t begin = 0, end = 0;
  while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
  while (begin + 1 < end && text[begin] == '0') ++begin;
  const absl::string_view number = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return number;
}

}  // namespace

bool NumericLess(absl::string_view x, absl::string_view y) {
  while (!x.empty() && !y.empty()) {
    if (absl::ascii_isdigit(x.front()) && absl::ascii_isdigit(y.front())) {
      const absl::string_view a = TakeNumber(x), b = TakeNumber(y);
      if (a != b) return std::tuple(a.size(), a) < std::tuple(b.size(), b);
      continue;
    }
    if (x.front() != y.front()) return x.front() < y.front();
    x.remove_prefix(1);
    y.remove_prefix(1);
  }
  return x.size() < y.size();
}

std::vector<std::pair<std::string, uint64_t>> InNumericOrder(
    const std::map<std::string, uint64_t>& counts) {
  std::vector<std::pair<std::string, uint64_t>> ordered(counts.begin(), counts.end());
  std::ranges::stable_sort(
      ordered, [](const auto& x, const auto& y) { return NumericLess(x.first, y.first); });
  return ordered;
}

}  // namespace mmadiff
