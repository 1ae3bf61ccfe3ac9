// Long texts, shown in a pager if stdout is a terminal.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mmadiff {

// Prints to stdout; on a terminal through $PAGER or `less -FRX`, if it starts. An empty PAGER
// disables the pager.
void PrintPaged(absl::string_view text);

// The names in as many columns as fit the terminal on stdout, sorted down the columns; one per line
// without a terminal.
std::string InColumns(const std::vector<std::string>& names);

}  // namespace mmadiff
