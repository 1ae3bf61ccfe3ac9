// Where the stages of two models diverge.
#pragma once

#include <vector>

#include "sim/trace.h"

namespace mmadiff {

// The first event at which two traces diverge, nullptr when they do not. Where the traces stand at
// different stages it is the earlier one, which the other trace has left out or put elsewhere.
// Products of +0 are passed over.
const Event* FirstDivergence(const std::vector<Event>& x, const std::vector<Event>& y);

}  // namespace mmadiff
