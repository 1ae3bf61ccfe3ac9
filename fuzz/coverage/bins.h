// What the inputs of a run should have met inside the arithmetic of a model: a list of bins, each a
// cell of a cross of rows and columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/algorithm.h"

namespace mmadiff {

struct Bin {
  const char* group;        // of the cross: "pairs"
  std::string row, column;  // `column` is empty where the group is a list
  uint64_t least;           // dot products that must reach it
  std::string unreachable;  // why no input of this model reaches it; empty: it must be reached

  // "pairs/nan/zero"
  std::string name() const;
};

// In the order of UnitResult::coverage; the same list for equal models.
std::vector<Bin> BinsOf(const Model& model);

}  // namespace mmadiff
