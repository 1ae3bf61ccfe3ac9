// Proofs that no input distinguishes two models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/parameter.h"

namespace mmadiff {

struct ProofStep {
  Change change;
  std::string reason;  // why no input distinguishes it from the model before it (WhyEquivalent())
};

// A chain of one-parameter changes from `x` to `y`, each proved equivalent to the model before it.
// Empty for identical models, and for trees that are identical without what cannot act; nullopt if
// no chain was found, though they may still be equal. The models have equal formats, k and scales.
std::optional<std::vector<ProofStep>> WhySame(const Model& x, const Model& y);

// "the same model", or "no input distinguishes them: NAME=VALUE: why; ...".
std::string ProofText(const std::vector<ProofStep>& proof);

}  // namespace mmadiff
