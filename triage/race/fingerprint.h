// The least set of dot products that tells models apart: together their words name one of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/batch.h"
#include "triage/race/racer.h"

namespace mmadiff {

// Two rows that no case tells apart, by their indices.
struct Indistinct {
  size_t x = 0, y = 0;
  std::string why;          // for people
  bool same_model = false;  // of all that was asked
};

struct Fingerprint {
  std::vector<DotProductCase> cases;
  bool least = false;  // no fewer cases of the pool tell as much apart
  size_t pool = 0;     // dot products that were looked at
  std::vector<Indistinct> indistinct;
};

// Of at least two models with equal formats, k and scales. The pool has the smallest telling case
// of each two models and cases of every class of the generator.
absl::StatusOr<Fingerprint> FindFingerprint(const std::vector<Racer>& rows);

}  // namespace mmadiff
