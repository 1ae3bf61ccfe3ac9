// Proofs that no input tells two models apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/parameter.h"

namespace mmadiff {

struct ProofStep {
  Change change;
  std::string reason;  // why no input tells it from the model before it (WhyEquivalent())
};

// A chain of changes of one parameter from `x` to `y`, each proved from the model before it; empty
// for one model, nullopt if no chain was found: they may still be equal. The models have equal
// formats, k and scales.
std::optional<std::vector<ProofStep>> WhySame(const Model& x, const Model& y);

// "the same model", or "no input tells them apart: NAME=VALUE: why; ...".
std::string ProofText(const std::vector<ProofStep>& proof);

}  // namespace mmadiff
