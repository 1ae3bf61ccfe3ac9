// The tree that a family's parameters describe.
#pragma once

#include "sim/tree/tree.h"

namespace mmadiff {

// A model of the family kTree with the same results. The model must be valid, of a family other than
// kConversion, and of a single execution; no tree describes far_product, pair_sum,
// and the products in place of a sparse model.
Model TreeOf(const Model& model);

}  // namespace mmadiff
