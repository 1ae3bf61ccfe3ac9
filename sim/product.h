// Common names of architectures.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mmadiff {

struct Product {
  const char* name;  // lower case, without spaces and dashes
  const char* arch;  // may be missing in the tables
};
// To support a new product, add a line.
std::span<const Product> Products();

// The architecture of a product, an alias or a spelling of its name ("SM90a", "Hopper", "RTX 4090",
// "h100"); empty if unknown. The tables may have nothing for the architecture.
std::string ArchitectureOf(std::string_view name);

// Whether the tables have the architecture.
bool HasTables(std::string_view arch);

}  // namespace mmadiff
