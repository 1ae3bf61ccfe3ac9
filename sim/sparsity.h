// Sparse instructions store two elements of each group of four consecutive k in a row of A, with
// their positions. A dot product has all k words of A; at most two of each group may differ from
// +0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sim/instruction.h"

namespace mmadiff {

// The two stored positions, 0 to 3, ascending: those of words other than +0, then the lowest
// others. nullopt if more than two words differ from +0.
inline std::optional<std::array<int, 2>> StoredPositions(std::span<const uint64_t, 4> words) {
  int stored = 0, count = 0;  // bit p: position p
  for (const bool zero : {false, true}) {
    for (int p = 0; p < 4 && (count < 2 || !zero); ++p) {
      if ((words[p] == 0) != zero) continue;
      stored |= 1 << p;
      ++count;
    }
  }
  if (count > 2) return std::nullopt;
  std::array<int, 2> positions = {};
  for (int p = 0, i = 0; p < 4; ++p) {
    if (stored >> p & 1) positions[i++] = p;
  }
  return positions;
}

// Why rows of A cannot be operands: the instruction is sparse and the rows are not. "" if they can.
std::string WhyNotSparse(const Instruction& instruction, std::span<const uint64_t> a);

}  // namespace mmadiff
