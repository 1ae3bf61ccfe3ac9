// Sums of HashOfResult() in vectors, chosen by what the machine has.
#pragma once

#include <cstdint>
#include <span>

#include "sim/format.h"

namespace mmadiff {

// IsNan() without branches, for words of up to 63 bits beside a sign.
struct NanTest {
  NanTest() = default;  // of words that are all compared as they are: says no
  explicit NanTest(const Format& f);
  bool operator()(uint64_t word) const {
    return static_cast<int64_t>((word & mask) ^ flip) > static_cast<int64_t>(above);
  }
  uint64_t mask = 0, flip = 0, above = 0;
};

// HashOfResult() of words[i] and first + i, summed over all i modulo 2^128; of ~0 in place of a NaN, as
// ComparedWord().
unsigned __int128 SumOfHashes(std::span<const uint64_t> words, uint64_t first,
                              const NanTest& nan = {});

// The same with each kind of vectors, the best first, and at last without any.
struct HashTarget {
  const char* name;
  unsigned __int128 (*sum)(std::span<const uint64_t> words, uint64_t first, const NanTest& nan);
};
std::span<const HashTarget> HashTargets();

}  // namespace mmadiff
