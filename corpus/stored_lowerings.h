// The computations that versions of ptxas make of instructions: the files of corpus/lowerings, which
// `mmadiff lowerings --tsv` prints.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

struct StoredLowering {
  std::string operation;           // "sm_90/mma.m8n8k4.f32.f16.f16.f32"
  std::string name;                // "low:41cfc387": equal names, equal results for all operands
  std::vector<std::string> ptxas;  // versions, as --ptxas named them
  std::string compared;            // "equals the model on 25600 dot products"
  std::string computes;            // the first result, its inner parts as "..."
};

// A line is the five members, separated by tabs, the versions by spaces; lines with # are comments.
// kDataLoss: it is not.
absl::StatusOr<std::vector<StoredLowering>> ParseLowerings(absl::string_view text);

// The lines of all files, in the order of the tables within a file.
std::span<const StoredLowering> StoredLowerings();

// Those of one operation; none if it has no machine code that was executed.
std::vector<const StoredLowering*> LoweringsOf(absl::string_view operation);

}  // namespace mmadiff
