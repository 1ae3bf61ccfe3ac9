// Formats of a few bits, small enough to try every input, and models over them that take every
// value of every parameter.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/parameter.h"

namespace mmadiff::reference {

// A parameter and the values that are worth trying with toy formats.
struct Choice {
  const Parameter* parameter;
  std::vector<int> values;
};

// Every parameter that the family reads. Values that no valid model takes are left out.
std::vector<Choice> Choices(Family family);

// Two products over formats of 2 to 5 bits, most of them 1-2-1 (sign, exponent and fraction bits)
// or less, with an output that they make subnormal, round and overflow. Scaled sums have one scale
// on either side. Integers: s3 x s2 + s5.
Model ToyModel(Family family);

// The same with this algorithm, over formats that it allows: bits where it asks for them.
Model ToyModelOf(const Algorithm& algorithm);

// Valid models that take together every combination of the values of any `strength` (1 or 2)
// parameters that some valid model takes.
std::vector<Model> CoveringModels(Family family, int strength);

// Every algorithm in the product of all choices, invalid ones too; `index` below ProductSize().
int64_t ProductSize(Family family);
Algorithm ProductAlgorithm(Family family, int64_t index);

// The same model over other toy formats, among them some with ignored bits, some without infinity,
// zero or subnormals, and unsigned integers; another number of products, and of scales. `model`
// must be valid, and so is the result.
Model WithOtherFormats(const Model& model, std::mt19937_64& random);

// Tries every input of a model. Empty when Simulate() and the reference agree on
// all; otherwise the first Disagreement(). Adds the number of inputs to *tried.
std::string ExhaustiveDisagreement(const Model& model, int64_t* tried);

}  // namespace mmadiff::reference
