// The states of findings: open, explained, fixed, regressed, flaky. A replay moves a finding to its
// next state, and so does a run that finds a fixed one again. Each filed case stores the state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/ledger.h"
#include "corpus/regression_case.h"

namespace mmadiff {

// The result of replaying a case, in increasing gravity.
enum class Replayed { kEqual, kDiffers, kFlaky };

// Whether the case was filed because a device's answer differed from the model at that time.
// Supporting cases, on which model and device agree, have no state.
bool IsFinding(const RegressionCase& c);

// The state in the file; kFlaky if the file has none and was filed as flaky.
FindingState StateOf(const RegressionCase& c);

// The more urgent of two states, in the order regressed, open, flaky, explained, fixed.
FindingState MoreUrgent(FindingState x, FindingState y);

// The state after a replay. `device`: the queried device; "" if stored answers were compared. Those
// do not change a state that depends on a device: moved by one, or flaky.
FindingState NextState(const RegressionCase& c, Replayed said, absl::string_view device);

struct FindingMove {
  std::string path, op, bucket;
  FindingState from, to;
};

// "2 from open to fixed, 1 from fixed to regressed"
std::string MovesText(const std::vector<FindingMove>& moves);

// The filed cases of a folder that have the same operation and bucket.
struct FiledFinding {
  FindingState state = FindingState::kFixed;  // the most urgent of its cases
  std::string op, bucket;
  std::string shown;  // ShownName() of the bucket
  uint64_t cases = 0;
  std::string path;  // path of the minimal case
};

// The findings below the folders, the most urgent first. Errors of unreadable files are added to
// `damaged`. Errors as ReadStoredCases().
absl::StatusOr<std::vector<FiledFinding>> ListFindings(const std::vector<std::string>& folders,
                                                       std::vector<std::string>& damaged,
                                                       Ledger& ledger);

}  // namespace mmadiff
