// Order of names that contain numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace mmadiff {

// Compares by characters, but decimal numbers by value: "ulp.2" precedes "ulp.129..256".
bool NumericLess(absl::string_view x, absl::string_view y);
std::vector<std::pair<std::string, uint64_t>> InNumericOrder(
    const std::map<std::string, uint64_t>& counts);

}  // namespace mmadiff
