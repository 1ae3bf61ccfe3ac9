// Which products a model of a sparse instruction adds.
#pragma once

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff::reference {

// Replaces a sparse model and its words by a dense model and the words that it adds.
void Select(Model& model, DotProductCase& dot);

}  // namespace mmadiff::reference
