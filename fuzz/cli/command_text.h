// The parsed command line as text that can be typed again.
#pragma once

#include <set>
#include <string>

namespace CLI {
class App;
}

namespace mmadiff {

// "PROGRAM VERB --flag=value", without the flags in `without` and without flags that only control
// the display of results.
std::string CommandText(const CLI::App& command, const std::set<std::string>& without = {});

// "1e8", "35e4": as --cases accepts it.
std::string ShortCount(uint64_t count);

}  // namespace mmadiff
