// The smallest dot product that distinguishes two models.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "sim/batch.h"
#include "triage/race/racer.h"

namespace mmadiff {

// `terms` counts the terms that are not +0: products, and the addend. Fewer terms are smaller; with
// equally many, the simpler dot product is smaller (triage/minimize/simplicity.h).
struct TellingCase {
  DotProductCase dot;
  uint64_t x = 0, y = 0;  // the words of both models
  int terms = 0;
};

// All dot products with this many products, with or without an addend; scales are 1.0.
struct Stratum {
  int products = 0;
  bool addend = false;
  uint64_t tried = 0;
  bool all = false;  // whether those are all that exist

  int terms() const { return products + addend; }
};

struct RaceResult {
  std::optional<TellingCase> found;
  uint64_t generated = 0;  // dot products of every class that were tried before one was found
  // Strata with fewer terms than `found`, or with few terms if nothing was found; ascending.
  std::vector<Stratum> strata;
  bool scales = false;  // whether the models have scales

  // Whether everything with fewer terms, at scales of 1.0, was tried.
  bool FewestTerms() const;
};

struct RaceOptions {
  uint64_t generated = 1 << 15;  // limit for dot products of the generator
  uint64_t stratum = 1 << 19;    // larger strata are tried in part, or not at all
  bool thorough = true;          // every pass of the minimizer, and several dot products to shrink
};

// The models have equal formats, k and scales. Deterministic.
absl::StatusOr<RaceResult> FindSmallest(const Racer& x, const Racer& y,
                                        const RaceOptions& options = {});

// Calls `take` with dot products of every class of the generator, some of each execution, until it
// returns true or `most` were taken. Returns the number taken.
uint64_t ForEachGenerated(const Operation& op, uint64_t most,
                          absl::FunctionRef<bool(const DotProductCase&)> take);

}  // namespace mmadiff
