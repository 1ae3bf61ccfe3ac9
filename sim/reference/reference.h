// A second, slow implementation of the arithmetic with exact numbers of unlimited precision, only
// for tests. It shares no code with the simulator except the structs Format, Algorithm and Model.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// The result word of one dot product. WhyInvalid(model) must be empty.
uint64_t ReferenceDotProduct(const Model& model, const DotProductCase& dot);

}  // namespace mmadiff
