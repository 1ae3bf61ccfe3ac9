#include "fuzz/folder/shard.h"

#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

// The environment variables of a numbering: number of the process, number of processes (nullptr:
// not available), first and last number. Names: sbatch(1) "Job array", srun(1) "Output environment
// variables", mpirun(1), the PMI of MPICH, and the documentation of Kubernetes on indexed jobs.
struct Numbering {
  const char *index, *count, *first, *last;
};
constexpr Numbering kTasks[] = {
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
     "SLURM_ARRAY_TASK_MAX"},
    {"JOB_COMPLETION_INDEX", nullptr, nullptr, nullptr},
};
// A batch script also has SLURM_PROCID, but it is not a step: it is one process.
constexpr Numbering kProcesses[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr, nullptr},
    {"PMI_RANK", "PMI_SIZE", nullptr, nullptr},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", nullptr, nullptr},
};

absl::Status Wrong(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("--shard: ", what));
}

// Digits only: SimpleAtoi alone would also take blanks and signs.
bool ParseNumber(absl::string_view text, uint64_t* number) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos &&
         absl::SimpleAtoi(text, number);
}

absl::StatusOr<uint64_t> NumberOf(const char* name, const Environment& environment) {
  const char* text = environment(name);
  uint64_t number = 0;
  if (text != nullptr && ParseNumber(text, &number)) return number;
  return Wrong(absl::StrCat(name, text == nullptr ? " is not set" : " is not a number",
                            "; write --shard=I/N or --shard=auto/N"));
}

// Returns no value if none of the numberings is set. `counted`: also read the number of processes.
template <size_t kCount>
absl::StatusOr<std::optional<Shard>> Ask(const Numbering (&numberings)[kCount], bool counted,
                                         const Environment& environment) {
  for (const Numbering& n : numberings) {
    if (environment(n.index) == nullptr) continue;
    const bool is_step = n.first == nullptr && n.count != nullptr;
    if (is_step && environment(n.count) == nullptr) continue;
    ASSIGN_OR_RETURN(const uint64_t index, NumberOf(n.index, environment));
    Shard shard = {index, 1, absl::StrCat(n.index, "=", index)};
    if (!counted && !is_step) return shard;
    if (n.count == nullptr) {
      return Wrong(absl::StrCat("auto: ", n.index,
                                " is set, but no variable has the number of processes; "
                                "write --shard=auto/N"));
    }
    ASSIGN_OR_RETURN(const uint64_t count, NumberOf(n.count, environment));
    shard.count = count;
    if (n.first != nullptr) {
      ASSIGN_OR_RETURN(const uint64_t first, NumberOf(n.first, environment));
      ASSIGN_OR_RETURN(const uint64_t last, NumberOf(n.last, environment));
      if (last - first + 1 != count) {
        return Wrong(absl::StrCat("auto: the tasks of this array are not ", first, " to ", last,
                                  " without a gap; write --shard=auto/N, where N is the size of "
                                  "the whole array"));
      }
      shard.index -= first;
    }
    if (shard.index >= shard.count) {
      return Wrong(absl::StrCat("auto: ", n.index, "=", index, " of ", count));
    }
    return shard;
  }
  return std::nullopt;
}

absl::StatusOr<Shard> AskScheduler(std::optional<uint64_t> count, const Environment& environment) {
  ASSIGN_OR_RETURN(const auto task, Ask(kTasks, !count.has_value(), environment));
  ASSIGN_OR_RETURN(const auto process, Ask(kProcesses, true, environment));
  if (!task.has_value() && !process.has_value()) {
    return Wrong(
        "auto: no scheduler has numbered this process (SLURM_ARRAY_TASK_ID, SLURM_PROCID, "
        "OMPI_COMM_WORLD_RANK, PMI_RANK, JOB_COMPLETION_INDEX); write --shard=I/N");
  }
  Shard shard = task.value_or(Shard());
  const Shard inside = process.value_or(Shard());
  shard.index = shard.index * inside.count + inside.index;
  shard.count = count.value_or(shard.count * inside.count);
  absl::StrAppend(&shard.from, shard.from.empty() || inside.from.empty() ? "" : ", ", inside.from);
  if (shard.index < shard.count) return shard;
  return Wrong(absl::StrCat("auto/", shard.count, ": ", shard.from, " means shard ", shard.index,
                            "; shards are numbered 0 to ", shard.count - 1));
}

}  // namespace

absl::StatusOr<Shard> ParseShard(absl::string_view text, const Environment& environment) {
  if (text.empty()) return Shard();
  if (text == "auto") return AskScheduler(std::nullopt, environment);
  const size_t slash = text.find('/');
  const absl::string_view before = text.substr(0, slash);
  const absl::string_view after = slash == text.npos ? "" : text.substr(slash + 1);
  Shard shard;
  if (ParseNumber(after, &shard.count) && shard.count > 0) {
    if (before == "auto") return AskScheduler(shard.count, environment);
    if (ParseNumber(before, &shard.index) && shard.index < shard.count) return shard;
  }
  return Wrong(absl::StrCat("'", text, "' is not I/N with 0 <= I < N, auto or auto/N"));
}

}  // namespace mmadiff
