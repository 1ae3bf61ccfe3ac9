// An inference for people, and the rows of the table it is like.
#pragma once

#include <string>
#include <vector>

#include "sim/operation.h"
#include "triage/infer/infer.h"
#include "triage/text_table.h"

namespace mmadiff {

// Values of one parameter that one sentence explains: "exponent_floor=-9999..-159, none".
struct UndeterminedValues {
  std::string values;
  std::string why;  // the proof, or what was tried
  bool proved = false;
};
std::vector<UndeterminedValues> Summary(const Inference& inference);

// Operations of the table with the same formats, k and algorithm.
std::vector<const Operation*> SameRows(const Operation& op, const Algorithm& algorithm);

// "sm_80/mma...:terms=8,fraction_bits=24", as `race` takes it: of the operations with the same formats and family the one with the
// fewest changes; "" if there is none.
std::string NearestRow(const Operation& op, const Algorithm& algorithm);

// Whether the table has a model for the operation, and an answer contradicts it.
bool ContradictsTable(const Operation& op, const Inference& inference);

// What a node of the tree keeps and how it rounds, in a few words: as it was measured, else as the algorithm has it.
std::string NodeText(const Inference& inference, const SummationTree& node);

// Many lines.
std::string InferenceText(const Operation& op, const Inference& inference, const TextStyle& style);

}  // namespace mmadiff
