// The questions for a black box of which only the formats are known. Each experiment isolates one
// property, in graded steps: the closer a wrong width or rounding is to the truth, the fewer
// answers it misses, so that a search can descend toward it.
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

// The dot products of one experiment, without those that are not valid operands of a sparse
// instruction.
std::vector<DotProductCase> ExperimentCases(const Experiment& experiment, const Operation& op);

// Names of the generator's classes that apply to the instruction; each is also an experiment.
std::vector<const char*> ClassNames(const Operation& op);
// `count` dot products of a class, starting at tile `first`, at most 16 from one tile.
std::vector<DotProductCase> ClassCases(const Operation& op, const char* name, uint64_t first,
                                       size_t count);

// Writes a number to a term: product k as a number of A times a power of two, or the addend (term
// K). Uses normal operands if possible. False if the formats cannot hold it.
bool PutTerm(const Model& model, int term, const Value& value, DotProductCase& dot);

}  // namespace mmadiff
