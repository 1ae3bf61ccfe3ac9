// The simulator: batches in, words out.
#pragma once

#include <cstdint>
#include <span>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// All of these print a message and abort if there is no model (Family::kNone).

// Writes a result word for each dot product to `d`, of batch.dot_products() words, in the order of
// batch.c. batch.shape.k and .scales must be the model's.
void Simulate(const Model& model, const Batch& batch, std::span<uint64_t> d);

// The result word of one dot product of the model's k and scales.
uint64_t Simulate(const Model& model, const DotProductCase& dot);

// Aborts unless there is a model: an operation without one has no answer.
void RequireModel(const Model& model);

}  // namespace mmadiff
