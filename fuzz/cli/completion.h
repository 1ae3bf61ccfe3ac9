// What a shell completes: verbs, flags, their values, names of instructions.
#pragma once

#include <string>

#include "fuzz/cli/cli.h"

namespace mmadiff {

// Scripts; names of instructions are those that the program lists when they run.
std::string BashCompletion(const CLI::App& program);
std::string FishCompletion(const CLI::App& program);
std::string ZshCompletion(const CLI::App& program);

}  // namespace mmadiff
