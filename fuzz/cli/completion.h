// Shell completion of verbs, flags, flag values and instruction names.
#pragma once

#include <string>

#include "fuzz/cli/cli.h"

namespace mmadiff {

// Scripts. They query the program for the names of instructions each time.
std::string BashCompletion(const CLI::App& program);
std::string FishCompletion(const CLI::App& program);
std::string ZshCompletion(const CLI::App& program);

}  // namespace mmadiff
