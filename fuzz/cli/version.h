// The version of this program.
#pragma once

#include <string>

namespace mmadiff {

// `git describe --always --dirty` when the program was built, or "unknown" (commit.cmake).
extern const char kCommit[];

// "mmadiff 0.1.0 (model 3, generator 3)", the commit and the build options, one line each.
std::string VersionText();

}  // namespace mmadiff
