// How a device reads operands, for people.
#pragma once

#include <string>
#include <vector>

#include "triage/probe/decoding.h"

namespace mmadiff {

// The first differences from the model; or that it has none.
std::string DecodingText(const Decoding& decoding);
// All differences, one for each run of words: "b: 78..7d as 7e = 448.0".
std::vector<std::string> DecodingTable(const Decoding& decoding);

}  // namespace mmadiff
