// Dot products for the tests that hold the simulator against the reference.
#pragma once

#include <random>
#include <string>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff::reference {

// A uniformly random word, of a float or an integer format.
uint64_t RandomWord(const Format& format, std::mt19937_64& random);

// Uniformly random words.
DotProductCase RandomWords(const Model& model, std::mt19937_64& random);

// One of several kinds of dot product, drawn by chance: random bits, near-equal exponents,
// cancelling pairs, subnormals, signed zeros, infinities and NaN payloads, results at the ends of
// the range, and an addend that cancels the products.
DotProductCase RandomDot(const Model& model, std::mt19937_64& random);

// Empty when Simulate() and the reference agree. Otherwise the line a.. b.. c, both words, and the
// algorithm.
std::string Disagreement(const Model& model, const DotProductCase& dot);

// For test names.
std::string FamilyName(Family family);

// Words as the line protocol writes them: a.. b.. c.
std::string Line(const Model& model, const DotProductCase& dot);

}  // namespace mmadiff::reference
