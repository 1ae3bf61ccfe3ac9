// The part of a run that this process executes: given explicitly, or numbered by its scheduler.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

struct Shard {
  uint64_t index = 0, count = 1;  // index < count
  std::string from;               // "SLURM_ARRAY_TASK_ID=3"; empty if given explicitly
};

using Environment = std::function<const char*(const char* name)>;  // getenv

// "" (the whole run), "I/N", "auto" or "auto/N". `auto` takes the number and the size from a
// scheduler: a Slurm job array, an indexed Kubernetes Job, or the processes of mpirun or srun.
// Processes in the tasks of an array are numbered consecutively. With N the size is not read: for
// Kubernetes, which does not provide it, and to resubmit some tasks of an array.
// kInvalidArgument names the variable and the problem.
absl::StatusOr<Shard> ParseShard(absl::string_view text, const Environment& environment);

}  // namespace mmadiff
