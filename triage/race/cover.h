// The least number of sets that have all elements of all.
#pragma once

#include <cstddef>
#include <vector>

namespace mmadiff {

struct Cover {
  std::vector<size_t> chosen;  // indices of sets
  bool least = false;          // fewer sets do not cover as much; else chosen greedily
};

// Sets over elements 0 .. size - 1, all of one size. At most `most` sets: with fewer than would be
// needed, greedily what covers most. Of equal ones the first is taken.
Cover LeastCover(const std::vector<std::vector<bool>>& sets, size_t most);

}  // namespace mmadiff
