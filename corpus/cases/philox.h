// Philox4x32-10 (Random123) of consecutive counters, with vector instructions where the machine has
// them.
#pragma once

#include <cstdint>
#include <span>

namespace mmadiff {

inline constexpr int kPhiloxBlocks = 32;

// Selects blocks: for each of the cases `index`, `index` + `stride`, ..., the `of_case` blocks
// `block`, `block` + 1, ...
struct PhiloxCounters {
  uint64_t index;
  uint32_t stream, block;
  uint32_t of_case = kPhiloxBlocks;  // a power of two
  uint32_t stride = 0;
};

// Makes the four words of each of kPhiloxBlocks blocks, whose counters are {block, low and high
// half of the case's index, stream}.
void MakePhiloxBlocks(const PhiloxCounters& counters, const uint32_t key[2], uint32_t* words);

struct PhiloxTarget {
  const char* name;  // name of the vector target, or "Random123"
  decltype(&MakePhiloxBlocks) make;
};
// All targets that this machine supports, best first; the first one makes the blocks above. The
// last is Random123.
std::span<const PhiloxTarget> PhiloxTargets();

}  // namespace mmadiff
