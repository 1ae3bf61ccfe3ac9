// What becomes of a mismatching case: its bucket; for a new bucket confirmation, the minimal case,
// an explanation, a file below the findings folder and a report on stdout.
#pragma once

#include <cstdint>
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
  std::string row;        // ARCH/INSTRUCTION
  std::string signature;  // with "flaky:" in front when it was not confirmed
  std::string case_name;  // first case
  std::string path;       // of the filed case; empty if it could not be filed
  uint64_t cases = 0;     // of this bucket, among the first 1000 mismatching ones of the row
  bool flaky = false;
};

class Findings {
 public:
  // `folder` receives the files. After `max_cases` mismatching cases of a row (0: no limit) Add()
  // returns kCancelled for that row. `print`: report each bucket on stdout when it is filed.
  Findings(std::string folder, uint64_t max_cases, bool print, Console& console)
      : folder_(std::move(folder)), max_cases_(max_cases), print_(print), console_(console) {}

  // Thread-safe; `device` is the caller's own. kDataLoss: the case could not be filed. Any other
  // error but kCancelled is the device's.
  absl::Status Add(Device& device, const MismatchingCase& found);

  std::vector<Finding> list() const;

 private:
  struct Bucket {
    Finding finding;
    std::string signature;                // without "flaky:"
    std::vector<Neighbour> explanations;  // of all its cases; empty when none explains the first
  };

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
