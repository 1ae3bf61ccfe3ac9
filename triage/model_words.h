// An algorithm as a numerics engineer would say it, made from its parameters.
#pragma once

#include <string>

#include "sim/algorithm.h"
#include "sim/parameter.h"

namespace mmadiff {

// "All 32 products and c are cut to 13 bits below the largest exponent, added exactly, and cut to 13 fraction bits." One or two
// sentences on one line; specials and subnormals are not in it.
std::string ModelInWords(const Model& model);

// The sentence, and "NAME=VALUE" of the parameters that it leaves out and whose values most operations of the family do
// not have.
std::string DescribeModel(const Model& model);

// What an algorithm does by a parameter, to stand behind its name: "keeps 13 bits", "adds 8 products at a time"; of a parameter
// without words of its own "has zero_sign=ieee".
std::string Predicate(const Algorithm& algorithm, const Parameter& parameter);
bool HasWords(Family family, const Parameter& parameter);

}  // namespace mmadiff
