// Philox4x32-10 (Random123) of consecutive counters at once, in vectors where the machine has them.
#pragma once

#include <cstdint>
#include <span>

namespace mmadiff {

inline constexpr int kPhiloxBlocks = 32;

// Which blocks: `block`, `block` + 1, ..., `of_case` of them of each of the cases `index`, `index` + `stride`, ...
struct PhiloxCounters {
  uint64_t index;
  uint32_t stream, block;
  uint32_t of_case = kPhiloxBlocks;  // a power of two
  uint32_t stride = 0;
};

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
