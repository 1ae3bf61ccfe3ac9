// Sums of HashOfResult() in vectors, chosen by what the machine has.
#pragma once

#include <cstdint>
#include <span>

namespace mmadiff {

// HashOfResult(words[i], first + i), summed over all i modulo 2^128.
unsigned __int128 SumOfHashes(std::span<const uint64_t> words, uint64_t first);

// The same with each kind of vectors, the best first, and at last without any.
struct HashTarget {
  const char* name;
  unsigned __int128 (*sum)(std::span<const uint64_t> words, uint64_t first);
};
std::span<const HashTarget> HashTargets();

}  // namespace mmadiff
