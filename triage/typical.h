// Dot products of ordinary numbers, as in real programs.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// Dot product `index` of a fixed sequence. Every product is used. At first the values are near 1
// and have few digits; later they have more digits and a wider range. Integers are small. Scales
// are 1.0.
DotProductCase TypicalDotProduct(const Model& model, uint64_t index);
inline constexpr uint64_t kTypicalDotProducts = 2000;

// The first of them for which `tells` returns true.
std::optional<DotProductCase> FindTypical(const Model& model,
                                          absl::FunctionRef<bool(const DotProductCase&)> tells);

}  // namespace mmadiff
