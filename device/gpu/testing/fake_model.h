// The arithmetic of the test drivers.
#pragma once

#include "sim/algorithms.h"
#include "sim/operation.h"

namespace mmadiff {

// The operation's model. For operations without one, a model with correct sums of small integers: a
// chain of f64, a wrapped sum of integers, an exact sum, or a sum of scaled products. No GPU is
// known to compute these.
inline Model FakeModel(const Operation& op) {
  if (IsModelled(op)) return op.model;
  const Format& d = *op.instruction->d;
  if (op.instruction->scale != nullptr) {
    return WithAlgorithm(op, ScaledProducts(*op.instruction));
  }
  if (d.bits == 64)
    return WithAlgorithm(op,
                         {.family = Family::kFmaChain, .output_fraction_bits = d.fraction_bits});
  if (IsInteger(d)) {
    return WithAlgorithm(op, {.family = Family::kIntegerDot, .terms = op.shape().k});
  }
  return WithAlgorithm(op, {.family = Family::kExactSum,
                            .terms = op.shape().k,
                            .output_fraction_bits = op.model.d.fraction_bits});
}

}  // namespace mmadiff
