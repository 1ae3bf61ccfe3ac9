// The smallest set of dot products that distinguishes models: together their words identify one of
// them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/batch.h"
#include "triage/race/racer.h"

namespace mmadiff {

// Two rows that no case distinguishes, by index.
struct Indistinct {
  size_t x = 0, y = 0;
  std::string why;          // for people
  bool same_model = false;  // for every instruction asked
};

struct Fingerprint {
  std::vector<DotProductCase> cases;
  bool least = false;  // whether no smaller set of cases of the pool distinguishes as much
  size_t pool = 0;     // dot products that were examined
  std::vector<Indistinct> indistinct;
};

// Takes at least two models with equal formats, k and scales. The pool has the smallest
// distinguishing case of every two models and cases of every class of the generator.
absl::StatusOr<Fingerprint> FindFingerprint(const std::vector<Racer>& rows);

}  // namespace mmadiff
