// Names that hold numbers, in the order of the numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace mmadiff {

// By characters, but decimal numbers by their value: "ulp.2" is before "ulp.129..256".
bool NumericLess(absl::string_view x, absl::string_view y);
std::vector<std::pair<std::string, uint64_t>> InNumericOrder(
    const std::map<std::string, uint64_t>& counts);

}  // namespace mmadiff
