// Compares the folders of two runs, or two recordings, from two nights, devices or versions. The
// models that reproduce the answers of each side come first.
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

// Values of Cause other than a change of parameters.
inline constexpr char kModel[] = "the model", kNoChange[] = "no change of one or two parameters";

struct RunsDifference {
  struct Fact {  // a property of the runs: "device", "seed", "dot products per second"
    std::string name, first, second;
  };
  // For operations whose answers differ: the model that reproduces all answers of each side:
  // kModel, a change of its parameters ("fraction_bits=24"), or kNoChange.
  struct Cause {
    std::string first, second;
    bool first_agrees = false;  // the model reproduces the answers of the first side
    std::vector<std::string> ops = {};
  };
  struct Reached {  // coverage bins that only one side reached often enough
    std::string op;
    std::vector<std::string> first, second;
  };

  std::string kind;  // "runs", "recordings"
  std::string first_path, second_path;
  std::vector<Cause> causes;  // causes with the most operations first
  // Rows that agree with the model on the first side but not on the second come first. For runs,
  // `compared` counts operations and units with the same cases.
  SurveyDifference answers;
  uint64_t common = 0;  // those of `compared` that are answers, or units with the same cases
  std::vector<Reached> coverage;
  std::vector<Fact> facts;
  std::vector<std::string> damage;  // damaged data that was left out

  std::string Text(size_t width = kAnyWidth) const;
};

Fields<RunsDifference> FieldsOf(const RunsDifference*);

using ListBins = std::function<std::vector<Bin>(const Model&)>;

// Two folders of runs, or two recordings (corpus/recordings/recording.h). kInvalidArgument for one
// of each and for anything else; other errors as for ReadRunFolder() and ReadRecordings().
absl::StatusOr<RunsDifference> CompareFolders(const std::string& first, const std::string& second,
                                              const ListBins& bins = BinsOf);

}  // namespace mmadiff
