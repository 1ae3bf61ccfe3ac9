// Lists files below a folder without silently leaving any out.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mmadiff {

// All entries below a folder that are not folders, sorted by path. Includes pipes and dangling
// links; opening them reports the error. Includes links to folders but does not follow them.
// kNotFound if the folder does not exist, kDataLoss if it or a folder below it cannot be read.
absl::StatusOr<std::vector<std::string>> FilesBelow(const std::string& folder);

// The files and folders in a folder, sorted by path; errors as above.
absl::StatusOr<std::vector<std::string>> EntriesOf(const std::string& folder);

}  // namespace mmadiff
