// What explains the answers of a device: those of one case, or of all filed cases of a folder; and
// what is filed of one case.
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
  std::vector<Observed> observed;    // the results of the case; none where the device failed
  bool agrees = false;               // the model gives all answers; then `diagnosis` has no changes
  Bucket bucket;                     // none if it agrees
  bool stored = false;               // the bucket is the file's
  Diagnosis diagnosis;               // of the case and the others of its finding
  int64_t element = 0;               // the first result that is in the bucket by itself
  Diagnosis of_answer;               // of that result; changes that explain the finding are first
  std::vector<std::string> refuted;  // changes that give this answer and that others refute
  bool damaged = false;              // a file of the finding was left out, which was warned of

  DotProductCase dot() const { return Extract(subject.mismatch.inputs, element); }
};

// A filed case together with the others of its finding that lie beside it, or, if `device` is not
// null, a case whose answer it gives now. Errors as LoadSubject() and ListCases().
absl::StatusOr<ExplainedCase> ExplainCase(const std::string& argument, Device* device,
                                          Console& console);

// A case by itself.
ExplainedCase ExplainSubject(Subject subject);

struct ExplainedBucket {
  Bucket bucket;
  size_t answers = 0;
  int64_t missed = 0;  // answers that its changes, else the model, do not give
  size_t failed = 0;   // cases in which the device has no word
  std::string said;    // what it did in the smallest of them
  std::string shared;  // RegressionCase::shared; "" if nothing is
};

// The cases of one operation and one device.
struct ExplainedGroup {
  const Operation* op = nullptr;
  std::string device;
  size_t cases = 0;
  bool agrees = false;  // there are answers that repeat, and the model gives them all
  Diagnosis diagnosis;  // of the answers that repeat; `observed` is empty if none does
  std::vector<ExplainedBucket> buckets;

  bool differs() const {
    return !agrees ||
           std::ranges::any_of(buckets, [](const ExplainedBucket& b) { return b.failed > 0; });
  }
};

struct ExplainedFolder {
  std::vector<ExplainedGroup> groups;
  bool recordings = false;  // there are some below it; they are no filed cases
  bool damaged = false;     // a file was left out, which was warned of
  Ledger ledger;            // of all files
};

// Every filed case of a folder. Errors as ReadStoredCases().
absl::StatusOr<ExplainedFolder> ExplainFolder(const std::string& folder, Console& console);

struct MinimizedCase {
  Finding finding;
  std::vector<KeptCase> cases;  // the minimal one first
};

// Investigates a case with at least one differing result, with about `most_calls` executions of the
// device (0: as a run), and files below `folder` what a run would. kDataLoss: a file could not be
// written; else the device's error (DeviceError()).
absl::StatusOr<MinimizedCase> MinimizeCase(const Subject& subject, Device& device,
                                           int64_t most_calls, const std::string& folder);

}  // namespace mmadiff
