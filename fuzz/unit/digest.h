// The digest of a unit's results. The same source for the host and resident.cu.
#pragma once

#include <cstdint>

#include "sim/format.h"

namespace mmadiff {

// The compared and digested form of a result: the word, or one word for all NaNs if the operation
// does not specify their bits (NanVerdict::kAnyNan).
MMADIFF_HD inline uint64_t ComparedWord(const Format& f, bool any_nan, uint64_t word) {
  return any_nan && IsNan(f, word) ? ~uint64_t{0} : word;
}

// From XXH3: a part of its secret, its first prime and the length, and its mixing.
constexpr uint64_t kDigestSecret = 0xdb979083e96dd4de ^ 0x1f67b3b7a4a44072;  // bytes 16 to 31
constexpr uint64_t kDigestPrime = 0x9e3779b185ebca87 + (8 << 2);
constexpr uint64_t kDigestMix1 = 0x9fb21c651e98df25, kDigestMix2 = 0x165667919e3779f9;

// XXH3-128 of the eight bytes of a compared word; the seed is the number of the dot product, that
// is, the case times the results of a case plus the element (modulo 2^64). The digest of a unit is
// the sum of these modulo 2^128: the same in any order. Equal to XXH3_128bits_withSeed
// (run_test).
MMADIFF_HD inline unsigned __int128 HashOfResult(uint64_t word, uint64_t dot_product) {
  const uint32_t low = static_cast<uint32_t>(dot_product);
  const uint32_t swapped = low >> 24 | (low >> 8 & 0xff00) | (low << 8 & 0xff0000) | low << 24;
  const uint64_t seed = dot_product ^ static_cast<uint64_t>(swapped) << 32;
  const unsigned __int128 product =
      static_cast<unsigned __int128>(word ^ (kDigestSecret + seed)) * kDigestPrime;
  uint64_t lo = static_cast<uint64_t>(product), hi = static_cast<uint64_t>(product >> 64);
  hi += lo << 1;
  lo ^= hi >> 3;
  lo = (lo ^ lo >> 35) * kDigestMix1;
  lo ^= lo >> 28;
  hi = (hi ^ hi >> 37) * kDigestMix2;
  hi ^= hi >> 32;
  return static_cast<unsigned __int128>(hi) << 64 | lo;
}

}  // namespace mmadiff
