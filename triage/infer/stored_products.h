// infer looks for the sum of a sparse instruction's stored products: they are the leaves of its tree
// and the terms of its experiments, numbered from 0 as in a dense instruction.
#pragma once

#include <vector>

#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

// With the model of the stored products in ascending order; a dense operation itself.
Operation StoredProducts(const Operation& op);

// Dot products of StoredProducts() as those of `op`: the first elements of each group are stored
// (metadata 04).
std::vector<DotProductCase> AsSparse(const Operation& op, std::vector<DotProductCase> dots);

// The stored products of a dot product of `op`.
DotProductCase StoredOf(const Operation& op, const DotProductCase& dot);

}  // namespace mmadiff
