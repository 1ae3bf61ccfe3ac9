// Philox4x32-10 (Random123) of consecutive counters at once, in vectors where the machine has them.
#pragma once

#include <cstdint>
#include <span>

namespace mmadiff {

inline constexpr int kPhiloxBlocks = 16;

// Which blocks: `block`, `block` + 1, ... of one case; or, where there are many short ones, the first
// kPhiloxBlocksOfShort of each of kPhiloxShortCases cases `index`, `index` + `stride`, ...
struct PhiloxCounters {
  uint64_t index;
  uint32_t stream, block;
  uint32_t stride;  // 0: one case
};
inline constexpr int kPhiloxBlocksOfShort = 4;
inline constexpr int kPhiloxShortCases = kPhiloxBlocks / kPhiloxBlocksOfShort;

// The four words of each of kPhiloxBlocks blocks, whose counters are {block, low and high half of the case's
// index, stream}.
void MakePhiloxBlocks(const PhiloxCounters& counters, const uint32_t key[2], uint32_t* words);

struct PhiloxTarget {
  const char* name;  // of the vectors, or "Random123"
  decltype(&MakePhiloxBlocks) make;
};
// All that this machine has, the best first, which makes the blocks above; the last is Random123.
std::span<const PhiloxTarget> PhiloxTargets();

}  // namespace mmadiff
