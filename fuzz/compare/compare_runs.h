// Two nights, two devices or two versions: what differs between the folders of two runs, or between
// two recordings? What gives the answers of each comes first.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fuzz/coverage/bins.h"
#include "fuzz/output/fields.h"
#include "fuzz/survey/compare.h"
#include "triage/text_table.h"

namespace mmadiff {

// What gives all answers of a side, if no change of parameters has to.
inline constexpr char kModel[] = "the model", kNoChange[] = "no change of one or two parameters";

struct RunsDifference {
  struct Fact {  // of what ran: "device", "seed", "dot products per second"
    std::string name, first, second;
  };
  // Of operations whose answers differ: what gives all those of each side. kModel, a change of
  // its parameters ("fraction_bits=24"), or kNoChange.
  struct Cause {
    std::string first, second;
    bool first_agrees = false;  // the model gives those of the first side
    std::vector<std::string> ops = {};
  };
  struct Reached {  // bins of the coverage that one side alone reached often enough
    std::string op;
    std::vector<std::string> first, second;
  };

  std::string kind;  // "runs", "recordings"
  std::string first_path, second_path;
  std::vector<Cause> causes;  // of most operations first
  // Rows that agree with the model in the first and not in the second come first. Of runs
  // `compared` counts operations and units of the same cases.
  SurveyDifference answers;
  uint64_t common = 0;  // of `compared`: answers, or units of the same cases
  std::vector<Reached> coverage;
  std::vector<Fact> facts;
  std::vector<std::string> damage;  // what was left out

  std::string Text(size_t width = kAnyWidth) const;
};

Fields<RunsDifference> FieldsOf(const RunsDifference*);

using ListBins = std::function<std::vector<Bin>(const Model&)>;

// Two folders of runs, or two recordings (corpus/recordings/recording.h). kInvalidArgument for one of
// each, and for what is neither; else as ReadRunFolder() and ReadRecordings().
absl::StatusOr<RunsDifference> CompareFolders(const std::string& first, const std::string& second,
                                              const ListBins& bins = BinsOf);

}  // namespace mmadiff
