// Coverage of many instructions as crosses: the counts of the cells of one group of bins.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuzz/coverage/bins.h"

namespace mmadiff {

struct Cross {
  struct Cell {
    uint64_t count = 0;         // dot products of all instructions
    uint64_t instructions = 0;  // instructions whose inputs can reach it
    uint64_t missing = 0;       // those of `instructions` that reached it less often than required
    std::string example;        // the first of the missing instructions
    std::string
        unreachable;  // reason why no instruction reaches it; empty if one can or none has the bin
    bool known = false;  // some instruction has the bin
  };

  std::string group;
  // In the order of the lists, numbers in numeric order; a list has one column, "".
  std::vector<std::string> rows, columns;
  std::vector<std::vector<Cell>> cells;  // by row, then column
};

// Adds the counts of one instruction: `counts` is UnitResult::coverage, as long as `bins`.
void AddToCrosses(const std::string& instruction, const std::vector<Bin>& bins,
                  std::span<const uint64_t> counts, std::vector<Cross>& crosses);

// The number of cells that some instruction can reach, and of those missing in at least one
// instruction.
struct CrossTotals {
  uint64_t reachable = 0, missing = 0;
};
CrossTotals TotalsOf(const Cross& cross);

}  // namespace mmadiff
