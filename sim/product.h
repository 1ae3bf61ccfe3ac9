// Names that people have for architectures.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mmadiff {

struct Product {
  const char* name;  // lower case, without spaces and dashes
  const char* arch;  // perhaps one of which the tables have nothing
};
// To support one more, add a line.
std::span<const Product> Products();

// The architecture that a product, an alias or a spelling of its name ("SM90a", "Hopper", "RTX 4090", "h100") means; empty
// if it means none. The architecture may be one of which the tables have nothing.
std::string ArchitectureOf(std::string_view name);

// Whether the tables have the architecture.
bool HasTables(std::string_view arch);

}  // namespace mmadiff
