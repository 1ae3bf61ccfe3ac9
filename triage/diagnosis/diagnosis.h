// Finds the change of an operation's model that reproduces all of a device's answers, as far as
// inputs distinguish changes.
//
// The search first tries changes of one parameter to any value, then of two, then of more, one
// after the other, until a change reproduces all answers. Then the device runs inputs that
// distinguish the change from every other one. If an answer refutes the change, the search begins
// again. Agreeing answers count as much as mismatches.
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
  // Changes that reproduce all answers, the preferred one first: SingleChanges() in their order;
  // without one, pairs of parameters; without one, `nearest` if it does. Empty if nothing does, or
  // if the model itself does.
  std::vector<Neighbour> changes;
  // If no pair reproduces all answers: found greedily from the operation's model by repeatedly
  // taking the single change that leaves the fewest answers missed. The operation's algorithm,
  // unchanged, if the model reproduces all.
  Neighbour nearest;
  size_t missed = 0;               // answers that `nearest` does not reproduce
  size_t singles = 0, pairs = 0;   // number of changes tried
  std::vector<Observed> observed;  // the answers
  bool cut = false;                // not all cases that distinguish the first change could be run
  bool refuted = false;            // answers that are not among these refute the changes
  size_t other_nans = 0;           // answers whose NaNs have bits other than those of the change

  // For answers that repeat: the preferred change, else kUnexplained without a class.
  Bucket bucket(const Operation& op) const;
  // One sentence: the search and its result, and the number of changes that could not be
  // distinguished.
  std::string Text() const;
};

// Searches among given answers, at least one.
Diagnosis FindChange(const Operation& op, std::vector<Observed> observed);

// The same, and asks the device for more answers while these can distinguish the change from
// others: about dot products of the first 2^15 of `cases` (8 of each execution), and, unless the
// device is slow or was `sampled` before, about its first executions. Errors are the device's; dot
// products that a recording lacks are skipped. `free_nans`: if no change reproduces all answers,
// looks for one that does except for the bits of NaNs.
absl::StatusOr<Diagnosis> Diagnose(Runner& runner, std::vector<Observed> observed,
                                   const CaseStream& cases, bool sampled = false,
                                   bool free_nans = false);

}  // namespace mmadiff
