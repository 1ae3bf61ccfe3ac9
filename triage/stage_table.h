// The stages of one dot product in the model, next to those in changed models.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/operation.h"
#include "sim/trace.h"
#include "triage/explain.h"

namespace mmadiff {

struct StageTable {
  struct Row {
    std::string name;                 // "step 1 product k=3"
    std::string term;                 // "k=3"
    std::vector<std::string> values;  // one for each column; "-": no such stage
    int step = 0;
    Stage stage = {};
    bool zero = false;   // only products of zero
    bool parts = false;  // the model and the first change diverge here: at most one row
  };
  std::vector<std::string> columns;  // "model", names of the changes
  std::vector<uint64_t> results;     // one for each column
  std::vector<Row> rows;
  std::string parting;  // that row in words: "aligned_term of the addend"; empty without one
};

using NamedModels = std::vector<std::pair<std::string, Model>>;

// {"model", the model}, then at most three of the changes.
NamedModels ModelAndChanges(const Operation& op, const std::vector<Neighbour>& changes);
// The models have the formats, k and scales of the dot product; their names are the titles of the columns.
StageTable MakeStageTable(const NamedModels& models, const DotProductCase& dot);
inline StageTable MakeStageTable(const Operation& op, const std::vector<Neighbour>& changes,
                                 const DotProductCase& dot) {
  return MakeStageTable(ModelAndChanges(op, changes), dot);
}

// "k=3"; for a group of products that are added before alignment "k=0..15".
std::string TermText(const Model& model, int k);

}  // namespace mmadiff
