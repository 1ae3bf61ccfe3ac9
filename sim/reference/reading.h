// How operands are read, by the values of words.
#pragma once

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff::reference {

// Replaces the words and the formats of a model with readings by those that are read, and removes the
// readings.
void Read(Model& model, DotProductCase& dot);

}  // namespace mmadiff::reference
