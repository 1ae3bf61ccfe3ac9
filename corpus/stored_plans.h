// Plans of kernels and libraries, with their evidence: the files of corpus/plans, which `mmadiff list
// plans` prints.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

struct StoredPlan {
  std::string kernel;        // "split-K serial"
  std::string library;       // "NVIDIA/cutlass"
  std::string version;       // commit or release
  std::string architecture;  // of sim/numerics.h
  std::string when;  // shapes and settings for which it holds; numbers in the plan are examples
  std::string plan;  // as PlanText() writes it
  // "source": read from the library's source; "measured": its results were compared.
  std::string grade;
  std::string evidence;  // path and lines in the library's source; or the recording

  std::string name() const;  // "NVIDIA/cutlass@7107b055 split-K serial"
};

// A line is the eight members, separated by tabs; lines with # are comments. kDataLoss: it is not, the
// grade is unknown, or the plan cannot be executed.
absl::StatusOr<std::vector<StoredPlan>> ParsePlans(absl::string_view text);

// The lines of all files.
std::span<const StoredPlan> StoredPlans();

}  // namespace mmadiff
