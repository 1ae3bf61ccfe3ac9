// The durable log of a survey, FOLDER/answers.log: a block log of its manifest, its results and the
// ends of its attempts. Each entry is stored completely or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/block_log.h"
#include "corpus/survey_record.h"
#include "device/clock.h"

namespace mmadiff {

// The contents of a log. A result that a killed process left incomplete is skipped.
struct StoredSurvey {
  SurveyManifest manifest;
  RunId run{};                        // named by every block: a hash of the manifest's bytes
  std::vector<SurveyResult> results;  // in the order in which they were obtained
  std::vector<std::string> hashes;    // XXH3-128 of the bytes of the first 1, 2, ... results
  struct End {
    SurveyEnd end;
    size_t results;  // number of results so far
  };
  std::vector<End> ends;  // ends of attempts
  BlockLogStats stats;    // stats of the file; a torn end is damage only here
  bool damaged = false;   // complete data is lost, or its bytes changed

  std::string Damage() const;  // the first damage, in words; "" if none
};

// The pages that a survey writes for people and programs, next to its log.
inline constexpr absl::string_view kSurveyPages[] = {"survey.html", "survey.md", "survey.json"};
std::string SurveyLogPath(const std::string& folder);

// kNotFound if the folder has no log. kDataLoss if the log cannot be read, does not begin with a
// manifest, or has a record that is not a result.
absl::StatusOr<StoredSurvey> ReadSurvey(const std::string& folder);

// Not thread-safe. Every error is kDataLoss.
class SurveyLog {
 public:
  static absl::StatusOr<std::unique_ptr<SurveyLog>> Create(const std::string& folder,
                                                           const SurveyManifest& manifest);
  // kDataLoss if `stored` is damaged.
  static absl::StatusOr<std::unique_ptr<SurveyLog>> Continue(const std::string& folder,
                                                             const StoredSurvey& stored);

  // Durable after Flush(), or with the next call made half a second or more later.
  absl::Status Append(const SurveyResult& result);
  absl::Status Append(const SurveyEnd& end);  // durable
  absl::Status Flush();
  uint64_t bytes() const { return bytes_; }  // approximate, for all records

 private:
  explicit SurveyLog(std::unique_ptr<BlockLogWriter> log) : log_(std::move(log)) {}

  absl::Status Add(const std::vector<std::string>& records);

  std::unique_ptr<BlockLogWriter> log_;
  uint64_t bytes_ = 0;
  absl::Duration flushed_ = MonotonicNow();
};

}  // namespace mmadiff
