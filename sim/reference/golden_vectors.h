// Dot products with results worked out by hand, published, or recorded on hardware.
#pragma once

#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff::reference {

struct Golden {
  std::string name;  // test name: id and model
  Model model;
  DotProductCase dot;
  uint64_t expected;
};

std::vector<Golden> GoldenVectors();

}  // namespace mmadiff::reference
