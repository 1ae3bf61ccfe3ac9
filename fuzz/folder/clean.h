// What can go from the folder of a run: temporary files of killed processes, and logs of units that
// hold nothing which others do not.
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
  std::vector<std::string> damage;  // of logs; these stay
};

// What would go; nothing is written. kInvalidArgument: no folder of a run; kFailedPrecondition: somebody
// writes there; kAborted: units that contradict themselves; kDataLoss: a damaged manifest, or what
// cannot be read.
absl::StatusOr<Cleaning> FindLeftovers(const std::string& folder);

// Removes it, while the folder is locked and after the logs that stay were synced. Whatever else is in
// the folder, links and what they name too, is left alone. Errors as above, and kFailedPrecondition
// where the file system has no locks. kDataLoss with `not_durable`: what cannot be removed; a log that
// alone has a unit is never removed. `shared` and its errors: of CheckOwner().
absl::StatusOr<Cleaning> RemoveLeftovers(const std::string& folder, bool& not_durable,
                                         bool shared = false);

}  // namespace mmadiff
