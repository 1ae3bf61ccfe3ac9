// The durable memory of a survey, FOLDER/answers.log: a block log of its manifest, of every result
// and of the ends of attempts, each whole or not there.
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

// What there is in a log. A result without its end, which a killed process leaves, is not there.
struct StoredSurvey {
  SurveyManifest manifest;
  RunId run{};                        // that every block names: a hash of the manifest's bytes
  std::vector<SurveyResult> results;  // in the order in which they were obtained
  std::vector<std::string> hashes;    // XXH3-128 of the bytes of the first 1, 2, ... results
  struct End {
    SurveyEnd end;
    size_t results;  // that there were
  };
  std::vector<End> ends;  // of attempts
  BlockLogStats stats;    // of the file; a torn end is damage only here
  bool damaged = false;   // what was written whole is lost, or its bytes changed

  std::string Damage() const;  // the first, in words; "" if there is none
};

// What a survey says to people and programs, beside its log.
inline constexpr absl::string_view kSurveyPages[] = {"survey.html", "survey.md", "survey.json"};
std::string SurveyLogPath(const std::string& folder);

// kNotFound when there is no log in the folder, kDataLoss when it cannot be read, does not begin
// with a manifest, or holds a record that is no result.
absl::StatusOr<StoredSurvey> ReadSurvey(const std::string& folder);

// Not thread-safe. Every error is kDataLoss.
class SurveyLog {
 public:
  static absl::StatusOr<std::unique_ptr<SurveyLog>> Create(const std::string& folder,
                                                           const SurveyManifest& manifest);
  // kDataLoss when `stored` is damaged.
  static absl::StatusOr<std::unique_ptr<SurveyLog>> Continue(const std::string& folder,
                                                             const StoredSurvey& stored);

  // Durable at the latest half a second and one call later, or after Flush().
  absl::Status Append(const SurveyResult& result);
  absl::Status Append(const SurveyEnd& end);  // durable
  absl::Status Flush();
  uint64_t bytes() const { return bytes_; }  // about: of all records

 private:
  explicit SurveyLog(std::unique_ptr<BlockLogWriter> log) : log_(std::move(log)) {}

  absl::Status Add(const std::vector<std::string>& records);

  std::unique_ptr<BlockLogWriter> log_;
  uint64_t bytes_ = 0;
  absl::Duration flushed_ = MonotonicNow();
};

}  // namespace mmadiff
