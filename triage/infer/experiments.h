// What a black box is asked before anything is known of its arithmetic but the formats. Each
// experiment isolates one thing, in stairs: the number of answers that a wrong width or rounding
// gives shrinks with its distance from the truth, so that a search can follow it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/batch.h"
#include "sim/operation.h"
#include "sim/word.h"

namespace mmadiff {

struct Experiment {
  const char* name;
  const char* shows;
  void (*cases)(const Operation& op, std::vector<DotProductCase>& dots);
};
std::span<const Experiment> Experiments();

// The dot products of one; those that are no operands of a sparse instruction are left out.
std::vector<DotProductCase> ExperimentCases(const Experiment& experiment, const Operation& op);

// Names of the generator's classes that the instruction has; each is an experiment too.
std::vector<const char*> ClassNames(const Operation& op);
// `count` dot products of a class from tile `first` on, at most 16 of one tile.
std::vector<DotProductCase> ClassCases(const Operation& op, const char* name, uint64_t first,
                                       size_t count);

// Writes a number to a term: product k as a number of A times a power of two, or the addend (term K).
// Normal operands where that is possible. False when the formats cannot.
bool PutTerm(const Model& model, int term, const Value& value, DotProductCase& dot);

}  // namespace mmadiff
