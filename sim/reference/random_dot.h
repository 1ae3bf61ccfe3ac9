// Dot products for the tests that hold the simulator against the reference.
#pragma once

#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/batch.h"
#include "sim/reference/random_word.h"

namespace mmadiff::reference {

// Uniformly random words, scales included.
DotProductCase RandomWords(const Model& model, Random& random);

// One of several kinds of dot product, drawn by chance: random bits, near-equal exponents,
// cancelling pairs, subnormals, signed zeros, infinities and NaN payloads, results at the ends of
// the range, products beyond it, an addend that cancels the products, and one that lies where it is
// cut away.
DotProductCase RandomDot(const Model& model, Random& random);

// Empty when Simulate() and the reference agree. Otherwise the line a.. b.. c, both words, and the
// algorithm.
std::string Disagreement(const Model& model, const DotProductCase& dot);

// For test names.
std::string FamilyName(Family family);
std::vector<Family> AllFamilies();

// Words as the line protocol writes them: a.. b.. c.
std::string Line(const Model& model, const DotProductCase& dot);

}  // namespace mmadiff::reference
