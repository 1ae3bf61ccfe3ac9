// A second, slow executor of plans, only for tests: from the text alone, one element and one
// execution at a time. It shares no code with sim/plan except the struct Matrices.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/plan/execute.h"

namespace mmadiff {

// The m x n words of D, row by row. `text` must be a plan that the operands fit.
std::vector<uint64_t> ReferencePlan(std::string_view text, const Matrices& matrices);

// Element (i, j) of D.
uint64_t ReferencePlan(std::string_view text, const Matrices& matrices, int64_t i, int64_t j);

}  // namespace mmadiff
