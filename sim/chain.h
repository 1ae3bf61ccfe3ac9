// Executions of one instruction in a chain, as a kernel accumulates over K: the result of each is the addend of the next.
#pragma once

#include <optional>
#include <string>

#include "sim/algorithm.h"

namespace mmadiff {

// Why the result of the model cannot be its next addend, or the chain is too long; empty if Chain() may be called.
std::string WhyNoChain(const Model& one, int executions);

// The model of a dot product of one.k * executions products; rows hold all elements, then all scales. It is exact for every
// model; only changing Model::k is not: an addend that joins last joins after each execution, a sum that is rounded once is
// rounded in each.
Model Chain(const Model& one, int executions);

// A model of one execution that computes the same as the chain; nullopt where none is known to.
std::optional<Model> AsOneExecution(const Model& chain);

}  // namespace mmadiff
