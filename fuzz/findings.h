// What becomes of a mismatching case: its bucket; for a new bucket confirmation, the minimal case,
// an explanation, a file below the findings folder and a report on stdout.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "corpus/regression_case.h"
#include "device/device.h"
#include "fuzz/console.h"
#include "fuzz/unit_runner.h"
#include "triage/explain.h"

namespace mmadiff {

struct Finding {
  std::string row;  // ARCH/INSTRUCTION
  // After "flaky:" when the device did not repeat it, after "unconfirmed:" when it could not be
  // asked again.
  std::string signature;
  std::string case_name;  // first case
  std::string path;       // of the filed case; empty if it could not be filed
  uint64_t cases = 0;     // of this bucket, in this attempt; 0: filed by an earlier one
  bool flaky = false;
};

class Findings {
 public:
  // `folder` receives the files. After `max_cases` mismatching cases of a row (0: no limit) Add()
  // returns kResourceExhausted for that row. `print`: report each bucket on stdout when it is
  // filed.
  Findings(std::string folder, uint64_t max_cases, bool print, Console& console)
      : folder_(std::move(folder)), max_cases_(max_cases), print_(print), console_(console) {}

  // What earlier attempts left in the folder becomes part of list(): the cases of which `own` says
  // that they are of this run. Returns what is wrong with the others and with what cannot be read.
  std::vector<std::string> LoadEarlier(const std::function<bool(const RegressionCase&)>& own);

  // Thread-safe; `device` is the caller's own. kDataLoss: the case could not be filed. Any other
  // error but kResourceExhausted is the device's; then the case is filed as it was seen.
  absl::Status Add(Device& device, const MismatchingCase& found);

  // Those of this attempt, then the earlier ones.
  std::vector<Finding> list() const;

 private:
  struct Bucket {
    Finding finding;
    std::string signature;                // without "flaky:"
    std::vector<Neighbour> explanations;  // of all its cases; empty when none explains the first
  };

  // Changes of the model that give all the observed answers: those of known buckets if any does.
  std::vector<Neighbour> Explaining(const Row& row, std::span<const Observed> observed) const;
  // The bucket that the case belongs to, made or narrowed if need be; `*file` when it must be
  // filed.
  Bucket& BucketOf(const MismatchingCase& found, std::span<const Observed> observed,
                   const std::vector<Neighbour>& explaining, bool* file);
  absl::Status Investigate(Device& device, const MismatchingCase& found,
                           std::span<const Observed> observed, Finding& finding);

  const std::string folder_;
  const uint64_t max_cases_;
  const bool print_;
  Console& console_;
  mutable std::mutex mutex_;
  std::vector<Finding> earlier_;
  std::map<std::string, uint64_t> cases_;             // by row
  std::map<std::string, std::list<Bucket>> buckets_;  // by row, in the order of their first cases
};

// The case to file for a minimised mismatch.
RegressionCase ToRegressionCase(const Minimized& minimal, const Device& device,
                                absl::string_view source);
// The report of one finding: both values bit by bit, the bucket, the operands, how to reproduce it.
std::string DescribeFinding(const Minimized& minimal, const Finding& finding, bool color);

std::string Now();  // RFC 3339, UTC

}  // namespace mmadiff
