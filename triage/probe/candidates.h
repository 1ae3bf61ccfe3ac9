// What a question could be answered with, and the vectors that it asks.
#pragma once

#include <vector>

#include "corpus/vector.h"
#include "sim/operation.h"
#include "sim/parameter.h"
#include "triage/probe/questions.h"

namespace mmadiff {

// The candidates of a question beside the model itself: those that some input may distinguish from
// it.
std::vector<Neighbour> Candidates(const Question& question, const Model& model);

// The vectors that a question names. nullptr for a name that there is not (a test looks).
std::vector<const Vector*> VectorsOf(const Question& question);

// The dot products of these vectors whose formats the operation has.
struct VectorDot {
  const Vector* vector;
  DotProductCase dot;
};
std::vector<VectorDot> VectorDotsOf(const Question& question, const Operation& op);

}  // namespace mmadiff
