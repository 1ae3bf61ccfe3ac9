// Random trees for the tests of `infer`.
#pragma once

#include <random>
#include <string>

#include "sim/operation.h"
#include "sim/tree/tree.h"

namespace mmadiff {

// An operation outside the tables with up to `most` products.
const Operation& RandomOperation(int most, std::mt19937_64& random);

// A valid tree for the operation: at most four sums above one another, each of up to 16 terms and one
// of up to four rules: a width of 8 to 53 bits or exact, five roundings of alignment and result, any of
// five formats. A third of the sums are converted.
Tree HiddenTree(const Operation& op, std::mt19937_64& random);

}  // namespace mmadiff
