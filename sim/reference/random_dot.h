// Dot products for the tests that compare the simulator with the reference.
#pragma once

#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/batch.h"
#include "sim/reference/random_word.h"

namespace mmadiff::reference {

// Uniformly random words, scales included.
DotProductCase RandomWords(const Model& model, Random& random);

// A dot product of a randomly chosen kind: random bits, near-equal exponents, canceling pairs,
// subnormals, signed zeros, infinities and NaN payloads, results at the ends of the range, products
// beyond it, an addend that cancels the products, and an addend where bits are cut.
DotProductCase RandomDot(const Model& model, Random& random);

// Empty if Simulate() and the reference agree; otherwise the line a.. b.. c, both words, and the
// algorithm.
std::string Disagreement(const Model& model, const DotProductCase& dot);

// For test names.
std::string FamilyName(Family family);
std::vector<Family> AllFamilies();

// Words as the line protocol writes them: a.. b.. c.
std::string Line(const Model& model, const DotProductCase& dot);

}  // namespace mmadiff::reference
