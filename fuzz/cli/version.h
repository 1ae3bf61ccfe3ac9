// Which mmadiff this is.
#pragma once

#include <string>

namespace mmadiff {

// `git describe --always --dirty` when the program was built, or "unknown" (commit.cmake).
extern const char kCommit[];

// "mmadiff 0.1.0 (model 3, generator 3)", the commit, and how it was built, a line each.
std::string VersionText();

}  // namespace mmadiff
