// The life of findings: open, explained, fixed, regressed, flaky. A replay moves them, a run that
// finds a fixed one again does, and each filed case keeps where its finding is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/ledger.h"
#include "corpus/regression_case.h"

namespace mmadiff {

// What a replay says of a case, the later the graver.
enum class Replayed { kEqual, kDiffers, kFlaky };

// Whether it was filed because a device's answer differed from the model's of that time. What is kept
// beside a finding because both agree on it has no life of its own.
bool IsFinding(const RegressionCase& c);

// The state of the file; of one that says none and was filed as flaky, that.
FindingState StateOf(const RegressionCase& c);

// Of two states the one to look at first: regressed, open, flaky, explained, fixed.
FindingState MoreUrgent(FindingState x, FindingState y);

// The state after a replay. `device`: who was asked; "" if the stored answers were compared, which
// say nothing of what a device fixed, regressed or did not repeat.
FindingState NextState(const RegressionCase& c, Replayed said, absl::string_view device);

struct FindingMove {
  std::string path, op, bucket;
  FindingState from, to;
};

// "2 open to fixed, 1 fixed to regressed"
std::string MovesText(const std::vector<FindingMove>& moves);

// The filed cases of a folder that have operation and bucket in common.
struct FiledFinding {
  FindingState state = FindingState::kFixed;  // the most urgent of its cases
  std::string op, bucket;
  uint64_t cases = 0;
  std::string path;  // of the minimal case
};

// Of all cases below the folders, the most urgent first. What cannot be read is added to `damaged`.
// Errors as ReadStoredCases().
absl::StatusOr<std::vector<FiledFinding>> ListFindings(const std::vector<std::string>& folders,
                                                       std::vector<std::string>& damaged,
                                                       Ledger& ledger);

}  // namespace mmadiff
