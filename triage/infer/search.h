// Searches the space of all algorithms for given formats for those that reproduce a device's
// answers.
//
// The space is the table of parameters (sim/parameter.h) times the families, with the values that
// OtherValues() lists; a new parameter or family is included automatically. The search goes
// downhill: one parameter after the other takes the value with the fewest missed answers, then two
// at a time. The experiments are graded so that there is a way down (experiments.h).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "sim/operation.h"
#include "triage/explain.h"
#include "triage/infer/masks.h"

namespace mmadiff {

struct Candidate {
  Algorithm algorithm;
  size_t missed = 0;  // answers that it does not reproduce
};

// Starting points: the operation's own algorithm if it has one, then those of all entries of the
// numerics table and of all hypotheses for these formats, then a plain algorithm for each family
// that has none yet. Each reads operands as the operation's algorithm does (sim/reading.h).
std::vector<Algorithm> StartsOf(const Operation& op);

// All valid combinations of the structural parameters in the family of `start`. Among numbers of
// terms that reach or exceed k, only the first is used.
std::vector<Algorithm> StructuresOf(const Operation& op, const Algorithm& start);

// The best of each family that supports these formats, the best family first. Once a candidate
// reproduces all answers, nothing is searched any further. `structure`: from its masks, or nullptr.
// `stop` is polled now and then.
std::vector<Candidate> FindCandidates(const Operation& op, std::span<const Observed> answers,
                                      const Structure* structure,
                                      std::span<const Observed> mask_answers,
                                      absl::FunctionRef<bool()> stop);

// For use when no candidate reproduces all answers: searches downhill again from the best ones with
// some parameters changed at random, the same ones every time. `found` is not empty and stays
// sorted.
void SearchAgain(const Operation& op, std::span<const Observed> answers,
                 std::vector<Candidate>& found, absl::FunctionRef<bool()> stop);

// Searches downhill from a candidate: on few answers first, then with more of those that it misses.
Candidate Improve(const Operation& op, std::span<const Observed> answers, const Candidate& from,
                  absl::FunctionRef<bool()> stop);

// Changes of one parameter, to any value, that also reproduce all answers and are not proved
// equivalent; and changes of two parameters of which at least one does not do so alone. For a tree,
// only its neighbors.
std::vector<Neighbour> Rivals(const Operation& op, std::span<const Observed> answers,
                              const Algorithm& believed);

}  // namespace mmadiff
