// Two surveys: where do two chips, two drivers or two nights answer differently?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "triage/text_table.h"

namespace mmadiff {

struct SurveyDifference {
  struct Row {
    std::string op, variant;
    std::vector<std::string> what;  // "width: fraction_bits=25 | fraction_bits=24"
    uint64_t differing = 0;         // common answers
    std::string line;               // the smallest dot product that shows it; "" if there is none
    std::string first, second;      // the two answers to it
  };
  std::string first, second;                               // who answered
  uint64_t compared = 0;                                   // questions and answers that both have
  uint64_t only_first = 0, only_second = 0;                // rows
  uint64_t only_first_stages = 0, only_second_stages = 0;  // of rows that both have
  bool torn_first = false, torn_second = false;            // the end of the log is lost
  std::vector<Row> rows;                                   // that differ
  std::vector<std::string> warnings;                       // pages that are out of date

  std::string Text(size_t width = kAnyWidth) const;
  std::string Json() const;
};

// The stored answers alone: no model takes part. kInvalidArgument for a folder without a
// survey, kDataLoss or kAborted for a damaged one.
absl::StatusOr<SurveyDifference> CompareSurveys(const std::string& first,
                                                const std::string& second);

}  // namespace mmadiff
