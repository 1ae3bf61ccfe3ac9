// Changes of parameters as people write them: "fraction_bits=24,output_rounding=toward_zero".
#pragma once

#include <string>
#include <string_view>

#include "sim/parameter.h"

namespace mmadiff {

// "toward_zero, down, up", "a number 1..37".
std::string AllowedValues(const Parameter& parameter);

// Applies the changes to the model. Returns the reason if the model's family lacks a parameter, if a value
// is not allowed, or if the result cannot be simulated; otherwise "".
std::string ApplyChanges(std::string_view changes, Model& model);

}  // namespace mmadiff
