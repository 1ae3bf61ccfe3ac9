// Finds files that can be removed from the folder of a run: temporary files of killed processes,
// and logs whose content is all in other logs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mmadiff {

struct Leftover {
  std::string path, why;
  uint64_t bytes = 0;
};

struct Cleaning {
  std::vector<Leftover> files;      // sorted by path
  std::vector<std::string> damage;  // damaged logs, which are kept
};

// Lists the files to remove; nothing is written. kInvalidArgument: not the folder of a run;
// kFailedPrecondition: a process is writing to it; kAborted: units contradict each other;
// kDataLoss: a damaged manifest, or a file that cannot be read.
absl::StatusOr<Cleaning> FindLeftovers(const std::string& folder);

// Locks the folder, syncs the logs to keep, then removes the leftovers. All other files, and links
// and their targets, are left alone. A log that is the only one with a unit is never removed.
// Errors as above, and kFailedPrecondition if the file system has no locks. kDataLoss with
// `not_durable`: a file cannot be removed. `shared` and its errors: as in CheckOwner().
absl::StatusOr<Cleaning> RemoveLeftovers(const std::string& folder, bool& not_durable,
                                         bool shared = false);

}  // namespace mmadiff
