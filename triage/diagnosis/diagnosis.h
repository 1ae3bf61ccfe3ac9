// Which change of an operation's model gives everything that a device answered, as far as inputs
// distinguish them.
//
// A change is looked for that gives all answers: of one parameter to any value, then of two, then
// of more, one after the other. Then the device is asked about inputs that distinguish the change
// from every other one, and the search begins again if it is refuted. Agreeing answers count as
// much as mismatches.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/cases/case_name.h"
#include "sim/operation.h"
#include "sim/parameter.h"
#include "triage/explain.h"
#include "triage/runner.h"

namespace mmadiff {

struct Diagnosis {
  // Changes that give all answers, the preferred one first: SingleChanges() in their order; without
  // one pairs of parameters; without one `nearest`, if it does. Empty: none does, or the model
  // does.
  std::vector<Neighbour> changes;
  // When no pair does, greedily: from the operation's model repeatedly the single change that leaves
  // the fewest answers missed. The operation's algorithm, unchanged, if the model gives all.
  Neighbour nearest;
  size_t missed = 0;               // answers that `nearest` does not give
  size_t singles = 0, pairs = 0;   // changes that were tried
  std::vector<Observed> observed;  // the answers
  bool cut = false;                // not all that distinguishes the first change could be asked
  bool refuted = false;            // the changes, by answers that are not among these
  size_t other_nans = 0;           // answers whose NaNs have other bits than those of the change

  // Of answers that repeat: the preferred change; kUnexplained without a class if there is none.
  Bucket bucket(const Operation& op) const;
  // What was searched and found, one sentence; how many changes could not be distinguished.
  std::string Text() const;
};

// From given answers, at least one.
Diagnosis FindChange(const Operation& op, std::vector<Observed> observed);

// The same, and asks the device for more while that can distinguish the change from others: about
// dot products of the first 2^15 of `cases` (8 of each execution), and, unless it is slow or
// `sampled` before, about its first executions. Errors are the device's; what a recording has no
// answer for is left out. `free_nans`: where no change gives all answers, one is looked for that does
// but for the bits of NaNs.
absl::StatusOr<Diagnosis> Diagnose(Runner& runner, std::vector<Observed> observed,
                                   const CaseStream& cases, bool sampled = false,
                                   bool free_nans = false);

}  // namespace mmadiff
