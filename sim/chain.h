// Chained executions of one instruction, as in a kernel that accumulates over K: each result is the
// next addend.
#pragma once

#include <optional>
#include <string>

#include "sim/algorithm.h"

namespace mmadiff {

// Why the model's result cannot be its next addend, or why the chain is too long; empty if Chain()
// may be called.
std::string WhyNoChain(const Model& one, int executions);

// The model of a dot product with one.k * executions products; rows hold all elements, then all
// scales. It is exact for every model. Only increasing Model::k would not be: an addend that joins
// last joins after each execution, and a sum that is rounded once is rounded in each execution.
Model Chain(const Model& one, int executions);

// A single-execution model that computes the same as the chain; nullopt if none is known.
std::optional<Model> AsOneExecution(const Model& chain);

}  // namespace mmadiff
