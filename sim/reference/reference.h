// A second, slow statement of the arithmetic in exact numbers of unlimited precision, for tests
// only. It shares no code with the simulator below the structs Format, Algorithm and Model.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// The result word of one dot product. WhyInvalid(model) must be empty.
uint64_t ReferenceDotProduct(const Model& model, const DotProductCase& dot);

}  // namespace mmadiff
