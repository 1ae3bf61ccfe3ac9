// Proofs, from formats and parameters, that a one-parameter change never changes a result.
#pragma once

#include <string>

#include "sim/algorithm.h"

namespace mmadiff {

// Why no input can distinguish `changed`, a valid one-parameter change, from the model; empty if an
// input might.
std::string WhyEquivalent(const Model& model, const Algorithm& changed);

}  // namespace mmadiff
