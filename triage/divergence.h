// Where the stages of two models diverge.
#pragma once

#include <vector>

#include "sim/trace.h"

namespace mmadiff {

// The first event at which two traces diverge, nullptr if they do not. If the traces are at
// different stages, it is the event of the earlier stage, which the other trace has left out or put
// elsewhere. Products of +0 are skipped.
const Event* FirstDivergence(const std::vector<Event>& x, const std::vector<Event>& y);

}  // namespace mmadiff
