// Random trees for the tests that compare the simulator with the reference.
#pragma once

#include "sim/algorithm.h"
#include "sim/reference/random_word.h"
#include "sim/tree/tree.h"

namespace mmadiff::reference {

// A valid tree for the model's formats and k, which is at most 1024: every product once, the addend
// once unless it is absent, sometimes zeros. Joins are at most four deep, apart from conversions;
// each has 1 to 16 terms and one of at most eight random rules.
mmadiff::Tree RandomTree(const Model& model, Random& random);

}  // namespace mmadiff::reference
