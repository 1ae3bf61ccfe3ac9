// The simulator: batches in, words out; and the tracer that `explain` uses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/algorithm.h"
#include "sim/batch.h"
#include "sim/trace.h"

namespace mmadiff {

// All of these end the program, with a message, when the model is none (Family::kNone).

// Writes a result word for each dot product to `d`, of batch.dot_products() words, in the order of
// batch.c. batch.shape.k and .scales must be the model's.
void Simulate(const Model& model, const Batch& batch, std::span<uint64_t> d);

// The result word of one dot product of the model's k and scales.
uint64_t Simulate(const Model& model, const DotProductCase& dot);

// The stages of one dot product in the order they happen; the last event carries the result word.
std::vector<Event> TraceStages(const Model& model, const DotProductCase& dot);

}  // namespace mmadiff
