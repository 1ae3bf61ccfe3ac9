// Two models: the same, proved equal, told apart by a case, or not known.
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
  std::string why = {};               // of kNotComparable
  std::vector<ProofStep> proof = {};  // of kProved
  RaceResult race = {};               // of kTold and kUndecided
  std::vector<Change> changes = {};   // from x to y; none if they are of different families
  std::string stage = {};  // of kTold: where they part, "" if their stages have nothing in common
  // Of kTold: a dot product of ordinary numbers, if one was found, and the words of both models.
  std::optional<TellingCase> typical = {};

  // The row whose dot products have the k of both models: the other is chained.
  const Operation& op() const { return x.op->shape().k == x.model.k ? *x.op : *y.op; }
};

// Whether no input tells them apart, by their parameters alone. Models of equal formats, k and scales.
bool AreSame(const Racer& x, const Racer& y);

const char* Name(PairRace::Verdict verdict);  // "same_model", "proved_equal", "told_apart", ...

// Remembers what it found: rows of many instructions have few models.
class Races {
 public:
  explicit Races(const RaceOptions& options = {}) : options_(options) {}

  absl::StatusOr<PairRace> Find(const Racer& x, const Racer& y);

 private:
  const RaceOptions options_;
  std::vector<PairRace> known_;
};

// "the same model", "2 terms", "equal: ...": without the case.
std::string VerdictText(const PairRace& pair);
// What was tried of cases with fewer terms, one sentence; "" if there are none.
std::string SmallerText(const RaceResult& race);
// Both models, the verdict, the case, its stages and words. Many lines.
std::string PairText(const PairRace& pair, const TextStyle& style);

}  // namespace mmadiff
