// The smallest dot product that tells two models apart.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "sim/batch.h"
#include "triage/race/racer.h"

namespace mmadiff {

// Terms that are not +0: products, and the addend. Fewer are smaller; of as many the simpler one
// (triage/minimize/simplicity.h).
struct TellingCase {
  DotProductCase dot;
  uint64_t x = 0, y = 0;  // the words of both models
  int terms = 0;
};

// All dot products of so many products and, or without, an addend; scales are 1.0.
struct Stratum {
  int products = 0;
  bool addend = false;
  uint64_t tried = 0;
  bool all = false;  // those were all there are

  int terms() const { return products + addend; }
};

struct RaceResult {
  std::optional<TellingCase> found;
  uint64_t generated = 0;  // dot products of every class that were tried before one was found
  // Those of fewer terms than what was found, or of few terms if nothing was, ascending.
  std::vector<Stratum> strata;
  bool scales = false;  // the models have some

  // Whether everything smaller in terms, with scales of 1.0, was tried.
  bool FewestTerms() const;
};

struct RaceOptions {
  uint64_t generated = 1 << 15;  // most dot products of the generator
  uint64_t stratum = 1 << 19;    // larger ones are tried in part, or not at all
  bool thorough = true;          // every pass of the minimizer, and several dot products to shrink
};

// The models have equal formats, k and scales. Deterministic.
absl::StatusOr<RaceResult> FindSmallest(const Racer& x, const Racer& y,
                                        const RaceOptions& options = {});

// Calls `take` with dot products of every class of the generator, some of each execution, until it
// returns true or `most` were taken; how many were.
uint64_t ForEachGenerated(const Operation& op, uint64_t most,
                          absl::FunctionRef<bool(const DotProductCase&)> take);

}  // namespace mmadiff
