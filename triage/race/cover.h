// Set cover: the smallest number of sets that contain all elements of all sets.
#pragma once

#include <cstddef>
#include <vector>

namespace mmadiff {

struct Cover {
  std::vector<size_t> chosen;  // indices of sets
  bool least = false;          // no smaller number covers as much; else chosen greedily
};

// Each set is a bit vector over elements 0 .. size - 1, all of one size. At most `most` sets: if
// fewer than needed, greedily the sets that cover most. Among equal sets the first one is taken.
Cover LeastCover(const std::vector<std::vector<bool>>& sets, size_t most);

}  // namespace mmadiff
