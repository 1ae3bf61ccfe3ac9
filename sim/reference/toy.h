// Toy models (toy_model.h) that take every value of every parameter, and every input of them.
#pragma once

#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/parameter.h"
#include "sim/reference/toy_model.h"

namespace mmadiff::reference {

// A parameter and the values that are worth trying with toy formats.
struct Choice {
  const Parameter* parameter;
  std::vector<int> values;
};

// Every parameter that the family reads. Values that no valid model takes are left out.
std::vector<Choice> Choices(Family family);

// Valid models that take together every combination of the values of any `strength` (1 or 2)
// parameters that some valid model takes.
std::vector<Model> CoveringModels(Family family, int strength);

// Every algorithm in the product of all choices, invalid ones too; `index` below ProductSize().
int64_t ProductSize(Family family);
Algorithm ProductAlgorithm(Family family, int64_t index);

// Tries every input of a model. Empty when Simulate() and the reference agree on
// all; otherwise the first Disagreement(). Adds the number of inputs to *tried.
std::string ExhaustiveDisagreement(const Model& model, int64_t* tried);

}  // namespace mmadiff::reference
