// Long texts, through a pager where stdout is a terminal.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mmadiff {

// To stdout; on a terminal through $PAGER, or `less -FRX`, if it starts. An empty PAGER is none.
void PrintPaged(absl::string_view text);

// The names in as many columns as the terminal behind stdout has room for, read downwards; one a
// line where there is no terminal.
std::string InColumns(const std::vector<std::string>& names);

}  // namespace mmadiff
