// The command line that was parsed, for people to type again.
#pragma once

#include <set>
#include <string>

namespace CLI {
class App;
}

namespace mmadiff {

// "PROGRAM VERB --flag=value", without the flags named in `without` and those that only say how
// results are shown.
std::string CommandText(const CLI::App& command, const std::set<std::string>& without = {});

// "1e8", "35e4": as --cases takes it.
std::string ShortCount(uint64_t count);

}  // namespace mmadiff
