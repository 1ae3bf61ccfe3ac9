// The units of an operation that are done.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace mmadiff {

// A set of numbers that leave the same rest modulo `stride`. Its memory grows with the gaps between
// them, not with the numbers: these come from files.
class UnitSet {
 public:
  explicit UnitSet(uint64_t stride = 1) : stride_(stride) {}

  bool Contains(uint64_t unit) const {
    const auto next = intervals_.upper_bound(unit / stride_);
    return next != intervals_.begin() && std::prev(next)->second > unit / stride_;
  }

  // False when it is there already.
  bool Add(uint64_t unit) {
    if (Contains(unit)) return false;
    const uint64_t n = unit / stride_;
    uint64_t begin = n, end = n + 1;
    const auto next = intervals_.upper_bound(n);
    if (next != intervals_.begin() && std::prev(next)->second == n) begin = std::prev(next)->first;
    if (next != intervals_.end() && next->first == end) {
      end = next->second;
      intervals_.erase(next);
    }
    intervals_[begin] = end;
    ++size_;
    return true;
  }

  uint64_t size() const { return size_; }

 private:
  uint64_t stride_, size_ = 0;
  std::map<uint64_t, uint64_t> intervals_;  // of unit / stride_: first and one past the last
};

}  // namespace mmadiff
