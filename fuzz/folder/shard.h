// Which part of a run this process does: as written, or as its scheduler numbers it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

struct Shard {
  uint64_t index = 0, count = 1;  // index < count
  std::string from;               // "SLURM_ARRAY_TASK_ID=3"; empty as written
};

using Environment = std::function<const char*(const char* name)>;  // getenv

// "" (all of it), "I/N", "auto" or "auto/N". `auto` is the number and the size that a scheduler
// gives: a Slurm job array, an indexed Kubernetes Job, the processes of mpirun or srun; processes in
// each task of an array are numbered through. With N the size is not asked: for Kubernetes, which
// does not give it, and for some tasks of an array that are submitted again.
// kInvalidArgument: what is wrong, with the variable.
absl::StatusOr<Shard> ParseShard(absl::string_view text, const Environment& environment);

}  // namespace mmadiff
