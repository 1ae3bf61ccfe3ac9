// The simulator: batches in, words out; and the tracer that `explain` uses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/algorithm.h"
#include "sim/batch.h"
#include "sim/trace.h"

namespace mmadiff {

// Writes batch.dot_products() result words to `d`. batch.shape.k must equal model.k.
void Simulate(const Model& model, const Batch& batch, std::span<uint64_t> d);

uint64_t Simulate(const Model& model, const DotProductCase& dot);

// The stages of one dot product in the order they happen; the last event carries the result word.
std::vector<Event> TraceStages(const Model& model, const DotProductCase& dot);

}  // namespace mmadiff
