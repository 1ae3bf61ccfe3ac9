// The finished units of an operation.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace mmadiff {

// A set of numbers that have the same remainder modulo `stride`. Its memory grows with the number
// of gaps, not with the numbers, which come from files.
class UnitSet {
 public:
  explicit UnitSet(uint64_t stride = 1) : stride_(stride) {}

  bool Contains(uint64_t unit) const {
    const auto next = intervals_.upper_bound(unit / stride_);
    return next != intervals_.begin() && std::prev(next)->second > unit / stride_;
  }

  // Returns false if the unit is already in the set.
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
  std::map<uint64_t, uint64_t> intervals_;  // first unit / stride_ -> one past the last
};

}  // namespace mmadiff
