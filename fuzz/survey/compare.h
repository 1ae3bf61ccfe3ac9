// Two surveys: where do two chips, two drivers or two nights answer differently?
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
    uint64_t differing = 0;         // common answers
    std::string line;               // the smallest dot product that shows it; "" if there is none
    std::string first, second;      // the two answers to it
  };
  std::string first, second;                               // who answered
  uint64_t compared = 0;                                   // all that both have
  uint64_t questions = 0, digests = 0, runs = 0;           // of it, beside answers; units of runs
  uint64_t only_first = 0, only_second = 0;                // rows
  uint64_t only_first_stages = 0, only_second_stages = 0;  // of rows that both have
  bool torn_first = false, torn_second = false;            // the end of the log is lost
  std::vector<Row> rows;                                   // that differ
  std::vector<std::string> warnings;                       // pages that are out of date

  std::string Text(size_t width = kAnyWidth) const;
  // Of the rows alone.
  std::string RowsText() const;
};

enum class StageEnd : uint8_t { kAnswered, kFails, kTraps };

// What a device said of a row.
struct StoredAnswers {
  std::map<std::string, SurveyAnswer> answers;   // to a question; also "layout", "repeat"
  std::map<std::string, std::string> words;      // line without its last word -> that word
  std::map<std::string, SurveyOutputs> outputs;  // by stream: of all parts, from case 0
  std::map<SurveyStage, StageEnd> stages;
  std::map<std::tuple<std::string, uint64_t, size_t>, Digest> digests;  // stream, cases, unit
  struct Mismatches {
    uint64_t count = 0;
    std::string first;  // case name
    friend bool operator==(const Mismatches&, const Mismatches&) = default;
  };
  // Of a run: generator and seed, first case, cases -> what differs from the model.
  std::map<std::tuple<std::string, uint64_t, uint64_t>, Mismatches> units;
};
using AnswersByRow = std::map<std::pair<std::string, std::string>, StoredAnswers>;  // op, variant

// Adds what both have in common, the rows that differ, and how many only one has.
void CompareAnswers(const AnswersByRow& x, const AnswersByRow& y, SurveyDifference& difference);
// Under the operation's NaN rule; without a model there is no rule, and every bit counts.
bool SameAnswer(const Operation& op, uint64_t x, uint64_t y);

// The stored answers alone: no model takes part. kInvalidArgument for a folder without a
// survey, kDataLoss or kAborted for a damaged one.
absl::StatusOr<SurveyDifference> CompareSurveys(const std::string& first,
                                                const std::string& second);

}  // namespace mmadiff
