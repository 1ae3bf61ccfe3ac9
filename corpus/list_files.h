// Files below a folder, with nothing left out in silence.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mmadiff {

// All below a folder that is no folder, sorted by path: also pipes and links to what is not there, of
// which who opens them complains. Links to folders are among them and are not followed. kNotFound when there is no such folder; kDataLoss when it or a folder below it
// cannot be read.
absl::StatusOr<std::vector<std::string>> FilesBelow(const std::string& folder);

// The files and folders in a folder, sorted by path; errors as above.
absl::StatusOr<std::vector<std::string>> EntriesOf(const std::string& folder);

}  // namespace mmadiff
