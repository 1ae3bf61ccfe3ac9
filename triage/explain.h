// Which single change of the model reproduces the device's bits, and where the stages diverge.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/batch.h"
#include "sim/operation.h"
#include "sim/parameter.h"

namespace mmadiff {

// What a device answered to a dot product.
struct Observed {
  DotProductCase dot;
  uint64_t d;
  bool nan_bits = false;  // NaNs count bit for bit, even where the operation promises none
};

// Whether a model gives what was observed, under the operation's NaN rule or bit for bit.
bool Fits(const Operation& op, const Model& model, const Observed& observed);

// The neighbours of the operation's model that give all the observed answers (under the operation's
// NaN rule), in the order of Neighbours(). Empty when no single change explains them.
std::vector<Neighbour> ExplainingNeighbours(const Operation& op,
                                            std::span<const Observed> observed);

// Whether a model fits all the observed answers.
bool Explains(const Operation& op, const Model& model, std::span<const Observed> observed);

// How the device's word differs from the model's: nan, infinity, zero_sign, sign, 1ulp, ulps,
// integer.
std::string DifferenceClass(const Format& format, uint64_t model, uint64_t device);

// The gravest of these of the answers that differ from the operation's model (a NaN is graver than
// an infinity, that than a sign, that than ulps); "" if none does.
std::string GravestClass(const Operation& op, std::span<const Observed> observed);

// The bucket of a difference, the same on every machine: "STAGE:NAME=VALUE" of the first explaining
// neighbour, with the stage at which the parameter acts (Parameter::stage), else
// "unexplained:CLASS" with the DifferenceClass() of the first word that differs.
std::string Signature(const Operation& op, std::span<const Observed> observed);

// The same for a chosen explanation of one or more parameters; nullptr: none explains.
std::string SignatureOf(const Operation& op, std::span<const Observed> observed,
                        const Neighbour* explanation);

// Index of the first differing dot product whose own Signature() is `signature`, so that shrinking
// it alone keeps to that bucket; of the first that differs at all if there is none.
int64_t ElementInBucket(const Operation& op, std::span<const Observed> observed,
                        const std::string& signature);

}  // namespace mmadiff
