// Why a one-parameter change of an algorithm cannot be seen: proofs from formats and parameters.
#pragma once

#include <string>

#include "sim/algorithm.h"

namespace mmadiff {

// Why no input distinguishes `changed`, a valid one-parameter change, from the model; empty if some
// may.
std::string WhyEquivalent(const Model& model, const Algorithm& changed);

}  // namespace mmadiff
