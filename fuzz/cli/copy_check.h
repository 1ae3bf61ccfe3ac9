// mmadiff copy --device: compares a device's tensor copies with the model's.
#pragma once

#include <string>
#include <vector>

#include "fuzz/cli/cli.h"
#include "fuzz/copies/check_copies.h"

namespace mmadiff {

// The forms of all architectures that match the globs, each with `cases` generated cases. kNotFound if none
// does.
absl::StatusOr<std::vector<CopyTask>> TasksOf(const std::string& globs, uint64_t seed,
                                              int64_t cases);

void RunCopyCheck(const std::string& device, const std::vector<CopyTask>& tasks, Call& call);

Schema CopyCheckSchema();

}  // namespace mmadiff
