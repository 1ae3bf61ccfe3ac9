// Which single change of the model reproduces the device's bits, and where the stages part.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/batch.h"
#include "sim/parameter.h"
#include "sim/row.h"

namespace mmadiff {

// What a device answered to a dot product.
struct Observed {
  DotProductCase dot;
  uint64_t d;
};

// The neighbours of the row's model that give all the observed answers (under the row's NaN rule),
// in the order of Neighbours(). Empty when no single change explains them.
std::vector<Neighbour> ExplainingNeighbours(const Row& row, std::span<const Observed> observed);

// Whether a model gives all the observed answers (under the row's NaN rule).
bool Explains(const Row& row, const Model& model, std::span<const Observed> observed);

// Name of the first stage at which the traces of two models part for a dot product: "product",
// "special", "align_exponent", "aligned_term", "sum", "rounded"; "none" if they do not.
std::string FirstDifferingStage(const Model& x, const Model& y, const DotProductCase& dot);

// The bucket of a difference, stable over machines: "STAGE:NAME=VALUE" of the first explaining
// neighbour, else "unexplained:CLASS" where CLASS says how the words differ: nan, infinity,
// zero_sign, sign, 1ulp, ulps, integer.
std::string Signature(const Row& row, std::span<const Observed> observed);

// The same for a chosen explanation, one of ExplainingNeighbours(); nullptr: none explains.
std::string SignatureOf(const Row& row, std::span<const Observed> observed,
                        const Neighbour* explanation);

// Index of the first differing dot product whose own Signature() is `signature`, so that shrinking
// it alone keeps to that bucket; of the first that differs at all if there is none.
int64_t TellingElement(const Row& row, std::span<const Observed> observed,
                       const std::string& signature);

// A table of the stages of the model beside those of each explaining neighbour (at most three), the
// first differing stage marked, and the device's answer. Many lines of plain text.
std::string ExplainText(const Row& row, const Observed& observed, bool color);

}  // namespace mmadiff
