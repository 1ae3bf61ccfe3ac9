// Explains the answers of a device to one case or to all filed cases of a folder, and minimizes a
// case.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "device/device.h"
#include "fuzz/folder/findings.h"
#include "fuzz/output/console.h"
#include "fuzz/replay/subject.h"
#include "triage/diagnosis/diagnosis.h"

namespace mmadiff {

struct ExplainedCase {
  Subject subject;
  std::vector<Observed> observed;    // the results of the case; none if the device failed
  bool agrees = false;               // the model gives these answers; `diagnosis` has no changes
  Bucket bucket;                     // empty if it agrees
  bool stored = false;               // the bucket was read from the file
  Diagnosis diagnosis;               // for the case and the others of its finding
  int64_t element = 0;               // the stored one, or the first in the bucket by itself
  Diagnosis of_answer;               // for that result; changes that explain the finding are first
  std::vector<std::string> refuted;  // changes that reproduce this answer, refuted by others
  bool damaged = false;              // a file of the finding was skipped, with a warning

  DotProductCase dot() const { return Extract(subject.mismatch.inputs, element); }
};

// Explains a filed case together with the others of its finding in the same folder, or a case name.
// If `device` is not null, uses its current answers. Errors as LoadSubject() and ListCases().
absl::StatusOr<ExplainedCase> ExplainCase(const std::string& argument, Device* device,
                                          Console& console);

// Explains a case by itself.
ExplainedCase ExplainSubject(Subject subject);

struct ExplainedBucket {
  Bucket bucket;
  size_t answers = 0;
  int64_t missed = 0;  // answers that the model with its changes, if any, does not reproduce
  size_t failed = 0;   // cases in which the device gave no word
  std::string said;    // the failure in the smallest of them
  std::string shared;  // RegressionCase::shared; may be ""
  std::string reason;  // RegressionCase::reason; may be ""
  std::vector<Clue> clues = {};  // RegressionCase::clues
};

// The cases of one operation and one device.
struct ExplainedGroup {
  const Operation* op = nullptr;
  std::string device;
  size_t cases = 0;
  bool agrees = false;  // some answers repeat, and the model reproduces all of these
  Diagnosis diagnosis;  // for the answers that repeat; `observed` is empty if none does
  std::vector<ExplainedBucket> buckets;

  bool differs() const {
    return !agrees ||
           std::ranges::any_of(buckets, [](const ExplainedBucket& b) { return b.failed > 0; });
  }
};

struct ExplainedFolder {
  std::vector<ExplainedGroup> groups;
  bool recordings = false;  // there are recordings below it, which are not filed cases
  bool damaged = false;     // a file was skipped, with a warning
  Ledger ledger;            // for all files
};

// Explains every filed case of a folder. Errors as ReadStoredCases().
absl::StatusOr<ExplainedFolder> ExplainFolder(const std::string& folder, Console& console);

struct MinimizedCase {
  Finding finding;
  std::vector<KeptCase> cases;  // the minimal one first
};

// Investigates a case with at least one differing result, with about `most_calls` executions on the
// device (0: as in a run), and files below `folder` what a run would file. kDataLoss: a file could
// not be written; otherwise the device's error (DeviceError()).
absl::StatusOr<MinimizedCase> MinimizeCase(const Subject& subject, Device& device,
                                           int64_t most_calls, const std::string& folder);

}  // namespace mmadiff
