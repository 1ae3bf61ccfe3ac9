// Toy models (toy_model.h) with every value of every parameter, and all their inputs.
#pragma once

#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/parameter.h"
#include "sim/reference/toy_model.h"

namespace mmadiff::reference {

// A parameter and the values worth trying with toy formats.
struct Choice {
  const Parameter* parameter;
  std::vector<int> values;
};

// Every parameter that the family reads, but for readings, without values that no valid model can have.
std::vector<Choice> Choices(Family family);

// Valid models that together cover every valid combination of values of any `strength` (1 or 2)
// parameters.
std::vector<Model> CoveringModels(Family family, int strength);

// Algorithm number `index` < ProductSize() in the product of all choices, which includes invalid
// ones.
int64_t ProductSize(Family family);
Algorithm ProductAlgorithm(Family family, int64_t index);

// Tries every input of a model. Empty if Simulate() and the reference agree on all; otherwise the
// first Disagreement(). Adds the number of inputs to *tried.
std::string ExhaustiveDisagreement(const Model& model, int64_t* tried);

}  // namespace mmadiff::reference
