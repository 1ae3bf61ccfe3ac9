// Coverage of many instructions as crosses: what the cells of one group of bins have reached.
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
    uint64_t instructions = 0;  // whose inputs can reach it
    uint64_t missing = 0;       // of these, those that did so less often than they must
    std::string example;        // the first of the missing
    std::string unreachable;    // why no instruction reaches it; empty if one can, or none has it
    bool known = false;         // some instruction's list has it
  };

  std::string group;
  // In the order of the lists, numbers in their own; a list has one column, "".
  std::vector<std::string> rows, columns;
  std::vector<std::vector<Cell>> cells;  // by row, then column
};

// Adds what one instruction reached: `counts` is UnitResult::coverage, as long as `bins`.
void AddToCrosses(const std::string& instruction, const std::vector<Bin>& bins,
                  std::span<const uint64_t> counts, std::vector<Cross>& crosses);

// Cells that some instruction can reach, and those of them that are missing in at least one.
struct CrossTotals {
  uint64_t reachable = 0, missing = 0;
};
CrossTotals TotalsOf(const Cross& cross);

}  // namespace mmadiff
