// Philox4x32-10 (Random123) of consecutive counters at once, in vectors where the machine has them.
#pragma once

#include <cstdint>
#include <span>

namespace mmadiff {

inline constexpr int kPhiloxBlocks = 16;

// The four words of each of kPhiloxBlocks blocks, whose counters are {counter[0] + i, counter[1],
// counter[2], counter[3]}, i = 0, 1, ...
void MakePhiloxBlocks(const uint32_t counter[4], const uint32_t key[2], uint32_t* words);

struct PhiloxTarget {
  const char* name;  // of the vectors, or "Random123"
  decltype(&MakePhiloxBlocks) make;
};
// All that this machine has, the best first, which makes the blocks above; the last is Random123.
std::span<const PhiloxTarget> PhiloxTargets();

}  // namespace mmadiff
