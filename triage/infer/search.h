// The space of all algorithms for given formats, searched for those that give a device's answers.
//
// The space is the table of parameters (sim/parameter.h) times the families, for as many values as
// OtherValues() has; a new parameter or family is in it by being there. It is searched downhill: one
// parameter after the other takes the value after which the fewest answers are missed, then two at a
// time. The experiments are laid in stairs so that there is a way down (experiments.h).
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
  size_t missed = 0;  // answers that it does not give
};

// Where searches begin: the operation's own algorithm if it has one, then those of all lines of the
// table and of all hypotheses for these formats, then a plain one of each family that has none yet.
std::vector<Algorithm> StartsOf(const Operation& op);

// All valid combinations of the structural parameters of a start's family. Of numbers of terms that
// reach or exceed k only the first.
std::vector<Algorithm> StructuresOf(const Operation& op, const Algorithm& start);

// The best of each family that can have these formats, the best family first; after those that give
// all answers nothing is searched any further. `structure`: from its masks, or nullptr.
// `stop` is asked now and then.
std::vector<Candidate> FindCandidates(const Operation& op, std::span<const Observed> answers,
                                      const Structure* structure,
                                      std::span<const Observed> mask_answers,
                                      absl::FunctionRef<bool()> stop);

// Where none gives all answers: downhill again from the best ones with some parameters changed at
// random, the same ones every time. `found` is not empty and stays sorted.
void SearchAgain(const Operation& op, std::span<const Observed> answers,
                 std::vector<Candidate>& found, absl::FunctionRef<bool()> stop);

// Downhill from a candidate: on few answers first, then with more of those that it misses.
Candidate Improve(const Operation& op, std::span<const Observed> answers, const Candidate& from,
                  absl::FunctionRef<bool()> stop);

// Changes of one parameter, to any value, that give all answers too and are not proved equivalent;
// and of two, of which one does not do so alone.
std::vector<Neighbour> Rivals(const Operation& op, std::span<const Observed> answers,
                              const Algorithm& believed);

}  // namespace mmadiff
