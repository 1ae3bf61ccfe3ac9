// The tracer that `explain` uses.
#pragma once

#include <vector>

#include "sim/algorithm.h"
#include "sim/batch.h"
#include "sim/trace.h"

namespace mmadiff {

// The stages of one dot product in the order they happen; the last event carries the result word.
// Prints a message and aborts if there is no model.
std::vector<Event> TraceStages(const Model& model, const DotProductCase& dot);

}  // namespace mmadiff
