// Compares two models: the same, proved equal, distinguished by a case, or undecided.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/parameter.h"
#include "triage/race/race.h"
#include "triage/race/same.h"
#include "triage/text_table.h"

namespace mmadiff {

struct PairRace {
  enum Verdict { kSame, kProved, kTold, kUndecided, kNotComparable };

  Racer x, y;
  Verdict verdict = kUndecided;
  std::string why = {};               // for kNotComparable
  std::vector<ProofStep> proof = {};  // for kProved
  RaceResult race = {};               // for kTold and kUndecided
  std::vector<Change> changes = {};   // from x to y; empty if the families differ
  std::string stage = {};  // for kTold: where they diverge, "" if they have no stage in common
  // For kTold: a dot product of ordinary numbers, if one was found, and the words of both models.
  std::optional<TellingCase> typical = {};

  // The row whose dot products have the k of both models; the other row is chained.
  const Operation& op() const { return x.op->shape().k == x.model.k ? *x.op : *y.op; }
};

// Whether the parameters alone show that no input distinguishes the models. They must have equal
// formats, k and scales.
bool AreSame(const Racer& x, const Racer& y);

const char* Name(PairRace::Verdict verdict);  // "same_model", "proved_equal", "told_apart", ...

// Caches its results: the rows of many instructions have few models.
class Races {
 public:
  explicit Races(const RaceOptions& options = {}) : options_(options) {}

  absl::StatusOr<PairRace> Find(const Racer& x, const Racer& y);

 private:
  const RaceOptions options_;
  std::vector<PairRace> known_;
};

// "the same model", "distinguished by a case with 2 terms", "no input distinguishes them: ...":
// without the case.
std::string VerdictText(const PairRace& pair);
// Reports the search for cases with fewer terms, one sentence; "" if nothing was tried.
std::string SmallerText(const RaceResult& race);
// Both models, the verdict, the case, its stages and words. Several lines.
std::string PairText(const PairRace& pair, const TextStyle& style);

}  // namespace mmadiff
