// Compares two surveys, for example two chips, two drivers or two nights.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/run_record.h"
#include "corpus/survey_record.h"
#include "sim/operation.h"
#include "triage/text_table.h"

namespace mmadiff {

struct SurveyDifference {
  struct Row {
    std::string op, variant;
    std::vector<std::string> what;  // "width: fraction_bits=25 | fraction_bits=24"
    uint64_t differing = 0;         // common dot products with different answers
    std::string line;               // the smallest of these; "" if none
    std::string first, second;      // the two answers to `line`
  };
  std::string first, second;                               // identities of the devices
  uint64_t compared = 0;                                   // all results in both surveys
  uint64_t questions = 0, digests = 0, runs = 0;           // part of `compared`; runs: units
  uint64_t only_first = 0, only_second = 0;                // rows
  uint64_t only_first_stages = 0, only_second_stages = 0;  // stages of common rows
  bool torn_first = false, torn_second = false;            // the end of the log is lost
  std::vector<Row> rows;                                   // rows that differ
  std::vector<std::string> warnings;                       // pages that are out of date

  std::string Text(size_t width = kAnyWidth) const;
  // The text of the rows only.
  std::string RowsText() const;
};

enum class StageEnd : uint8_t { kAnswered, kFails, kTraps };

// The results of one row.
struct StoredAnswers {
  std::map<std::string, SurveyAnswer> answers;   // by question; also "layout", "repeat"
  std::map<std::string, std::string> words;      // line without its last word -> that word
  std::map<std::string, SurveyOutputs> outputs;  // by stream: all parts, from case 0
  std::map<SurveyStage, StageEnd> stages;
  std::map<std::tuple<std::string, uint64_t, size_t>, Digest> digests;  // stream, cases, unit
  struct Mismatches {
    uint64_t count = 0;
    std::string first;  // case name
    friend bool operator==(const Mismatches&, const Mismatches&) = default;
  };
  // Units of the run: (generator and seed, first case, cases) -> differences from the model.
  std::map<std::tuple<std::string, uint64_t, uint64_t>, Mismatches> units;
};
using AnswersByRow = std::map<std::pair<std::string, std::string>, StoredAnswers>;  // op, variant

// Adds the number of common results, the rows that differ, and the numbers of rows and stages that
// only one has.
void CompareAnswers(const AnswersByRow& x, const AnswersByRow& y, SurveyDifference& difference);
// Applies the operation's NaN rule. Without a model there is no rule, and every bit counts.
bool SameAnswer(const Operation& op, uint64_t x, uint64_t y);

// Compares the stored answers only, without a model. kInvalidArgument for a folder without a
// survey, kDataLoss or kAborted for a damaged one.
absl::StatusOr<SurveyDifference> CompareSurveys(const std::string& first,
                                                const std::string& second);

}  // namespace mmadiff
