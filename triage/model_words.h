// Describes an algorithm as a numerics engineer would, from its parameters.
#pragma once

#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/parameter.h"

namespace mmadiff {

// "All 32 products and c are cut to 13 bits below the largest exponent, added exactly, and cut to
// 13 fraction bits." One or two sentences on one line; they leave out specials and subnormals.
std::string ModelInWords(const Model& model);

// The sentence, and "NAME=VALUE" for the parameters that it leaves out and whose value is not the
// most common one in the family.
std::string DescribeModel(const Model& model);

// The parameters that probe and infer print: AlgorithmFields(), and for a sparse model its selection,
// whichever it is.
std::vector<Change> ReportedFields(const Model& model);
std::string Describe(const Model& model);  // "fused_sum(terms=8, ...)", with these parameters

// A predicate for an algorithm from one of its parameters, to follow the algorithm's name: "keeps
// 13 bits", "adds 8 products at a time"; for a parameter without words of its own "has
// zero_sign=ieee".
std::string Predicate(const Algorithm& algorithm, const Parameter& parameter);
bool HasWords(Family family, const Parameter& parameter);

}  // namespace mmadiff
