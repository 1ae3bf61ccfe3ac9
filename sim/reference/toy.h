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

// Every parameter that the family reads. Values that Invalid() refuses are left out.
std::vector<Choice> Choices(Family family);

// Two products; a, b 1-2-1 (sign, exponent, fraction bits) and c 1-2-1, d 1-3-2 for the fused sum;
// for the FMA chain b is 1-2-0 and c is as d. Integers: s3 x s2 + s5.
Model ToyModel(Family family);

// Models that take together every combination of the values of any `strength` (1 or 2) parameters.
std::vector<Model> CoveringModels(Family family, int strength);

// Every algorithm in the product of all choices; `index` below ProductSize().
int64_t ProductSize(Family family);
Algorithm ProductAlgorithm(Family family, int64_t index);

// The same model over other toy formats, among them one with ignored bits, one without infinity and
// unsigned integers; one to three products.
Model WithOtherFormats(const Model& model, std::mt19937_64& random);

// Tries every input of a model of two products. Empty when Simulate() and the reference agree on
// all; otherwise the first Disagreement(). Adds the number of inputs to *tried.
std::string ExhaustiveDisagreement(const Model& model, int64_t* tried);

}  // namespace mmadiff::reference
