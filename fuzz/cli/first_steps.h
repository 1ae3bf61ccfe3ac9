// Commands to try first, printed by `mmadiff` without arguments.
#pragma once

#include <string>

#include "fuzz/output/console.h"

namespace mmadiff {

// At most five lines "COMMAND  # PHRASE". Each command works in bash as written, in the current
// directory of this machine. Opens the best device of the machine; prints its warning.
std::string FirstSteps(Console& console);

}  // namespace mmadiff
