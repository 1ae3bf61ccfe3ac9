// Formats of a few bits, small enough to try every input, and models over them.
#pragma once

#include <random>

#include "sim/algorithm.h"

namespace mmadiff::reference {

// Two products over formats of 2 to 5 bits, most of them 1-2-1 (sign, exponent and fraction bits)
// or less. Their sums can be subnormal, be rounded and overflow in the output format. Scaled sums
// have one scale on either side. Integers: s3 x s2 + s5.
Model ToyModel(Family family);

// The same with this algorithm, over formats that it allows: single bits if it requires them.
Model ToyModelOf(const Algorithm& algorithm);

// The same model with different toy formats and different numbers of products and scales. Formats
// include some with ignored bits, some without infinity, zero or subnormals, and unsigned integers. Half
// of the models read some operands differently.
// `model` must be valid, and so is the result.
Model WithOtherFormats(const Model& model, std::mt19937_64& random);

}  // namespace mmadiff::reference
