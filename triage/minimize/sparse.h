// The simulator for dot products most of whose products are +0 * +0 at high k: what the passes of
// the minimiser propose by the million.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// The same word as Simulate(), most often in a fraction of the time.
uint64_t SimulateSparse(const Model& model, const DotProductCase& dot);

}  // namespace mmadiff
