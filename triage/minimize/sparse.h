// A simulator for dot products in which most products are +0 * +0 at high k. The passes of the
// minimizer propose such dot products by the million.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// The same word as Simulate(), usually in a fraction of the time.
uint64_t SimulateSparse(const Model& model, const DotProductCase& dot);

}  // namespace mmadiff
