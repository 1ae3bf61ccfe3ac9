// Sums of HashOfResult() in vectors, with the best instruction set of the machine.
#pragma once

#include <cstdint>
#include <span>

#include "sim/format.h"

namespace mmadiff {

// IsNan() without branches, for words of up to 63 bits beside a sign.
struct NanTest {
  NanTest() = default;  // for words that are all compared unchanged: always false
  explicit NanTest(const Format& f);
  bool operator()(uint64_t word) const {
    return static_cast<int64_t>((word & mask) ^ flip) > static_cast<int64_t>(above);
  }
  uint64_t mask = 0, flip = 0, above = 0;
};

// HashOfResult() of words[i] and first + i, summed over all i modulo 2^128; with ~0 for a NaN, like
// ComparedWord().
unsigned __int128 SumOfHashes(std::span<const uint64_t> words, uint64_t first,
                              const NanTest& nan = {});

// The same for each vector instruction set, the best first, scalar code last.
struct HashTarget {
  const char* name;
  unsigned __int128 (*sum)(std::span<const uint64_t> words, uint64_t first, const NanTest& nan);
};
std::span<const HashTarget> HashTargets();

}  // namespace mmadiff
