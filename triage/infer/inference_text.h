// Prints an inference for people, and finds the table rows that it resembles.
#pragma once

#include <string>
#include <vector>

#include "sim/operation.h"
#include "triage/infer/infer.h"
#include "triage/text_table.h"

namespace mmadiff {

// Values of one parameter that share one explanation: "exponent_floor=-9999..-159, none".
struct UndeterminedValues {
  std::string values;
  std::string why;  // the proof, or the attempts
  bool proved = false;
};
std::vector<UndeterminedValues> Summary(const Inference& inference);

// Operations of the table with the same formats, k and algorithm.
std::vector<const Operation*> SameRows(const Operation& op, const Algorithm& algorithm);

// "sm_80/mma...:terms=8,fraction_bits=24", in the syntax of `race`: among the operations with the
// same formats and family, the one with the fewest changes, or "".
std::string NearestRow(const Operation& op, const Algorithm& algorithm);

// Whether the table has a model for the operation and an answer contradicts it.
bool ContradictsTable(const Operation& op, const Inference& inference);

// The width and rounding of a node of the tree, in a few words: as measured, otherwise according to
// the algorithm; empty if that is a tree.
std::string NodeText(const Inference& inference, const SummationTree& node);

// One line: the tree if it is not the model's, and an algorithm that reproduces all answers by its
// differences from the table's model, or that no algorithm does; "" if it is that model.
std::string InferenceClue(const Operation& op, const Inference& inference);

// Several lines.
std::string InferenceText(const Operation& op, const Inference& inference, const TextStyle& style);

}  // namespace mmadiff
