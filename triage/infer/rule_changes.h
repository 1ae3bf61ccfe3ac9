// The rules that a search of trees tries for a unit.
#pragma once

#include <vector>

#include "triage/infer/unit_tree.h"

namespace mmadiff {

// Formats that a model's nodes may round to: its own, and the usual wide and narrow ones.
std::vector<const Format*> NodeFormats(const Model& model);

// Plain rules of a sum: one rounding to any of the formats.
std::vector<UnitRule> PlainRules(const Model& model);
// Two roundings in a row.
std::vector<UnitRule> TwiceRoundedRules(const Model& model);
// Every width and rounding of alignment before any rounding to any of the formats.
std::vector<UnitRule> AlignedRules(const Model& model);
// Each of the rules, and then one rounding to any of the formats.
std::vector<UnitRule> ConvertedRules(const Model& model, const std::vector<UnitRule>& rules);
// Any number of bits of any of the formats.
std::vector<UnitRule> CutRules(const Model& model);

// Rules with another format, number of bits, width or rounding of one node, or with one conversion
// added or removed. `sum`: the first node adds.
std::vector<UnitRule> RuleChanges(const Model& model, const UnitRule& rule, bool sum);
// Rules with other signs of zeros, subnormals, overflows or floors.
std::vector<UnitRule> RareChanges(const UnitRule& rule, bool sum);

// How much there is to say about a rule: nodes count most, then fields other than the default.
int CostOf(const UnitRule& rule);
// The rule without one of its nodes, or with one field as the default; the shortest first.
std::vector<UnitRule> SimplerRules(const UnitRule& rule, bool sum);

}  // namespace mmadiff
