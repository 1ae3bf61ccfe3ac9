// Sparse instructions: of each four neighbours of k in a row of A two are stored, with their
// positions. A dot product has all k words of A; at most two of four may differ from +0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sim/instruction.h"

namespace mmadiff {

// The positions, 0 to 3 and ascending, that are stored: those of words other than +0, filled up
// with the lowest others. nullopt if more than two words are not +0.
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

// Why rows of A are no operands of the instruction: it is sparse, and they are not. "" if they are.
std::string WhyNotSparse(const Instruction& instruction, std::span<const uint64_t> a);

}  // namespace mmadiff
