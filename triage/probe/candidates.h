// The candidate answers to a question, and the vectors that it asks.
#pragma once

#include <vector>

#include "corpus/vector.h"
#include "sim/operation.h"
#include "sim/parameter.h"
#include "triage/probe/questions.h"

namespace mmadiff {

// The candidates other than the model itself that some input may distinguish from the model.
std::vector<Neighbour> Candidates(const Question& question, const Model& model);

// The vectors that a question names. nullptr for an unknown name (a test checks that there are no
// such names).
std::vector<const Vector*> VectorsOf(const Question& question);

// The dot products of these vectors whose formats match the operation.
struct VectorDot {
  const Vector* vector;
  DotProductCase dot;
};
std::vector<VectorDot> VectorDotsOf(const Question& question, const Operation& op);

}  // namespace mmadiff
