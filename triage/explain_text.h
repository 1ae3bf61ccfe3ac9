// Prints one dot product stage by stage, for people.
#pragma once

#include <string>
#include <vector>

#include "sim/operation.h"
#include "triage/diagnosis/diagnosis.h"
#include "triage/explain.h"
#include "triage/stage_table.h"
#include "triage/text_table.h"

namespace mmadiff {

// A table of the model's stages, next to those of the first changes of `diagnosis` (at most three),
// which give the device's answer. The first differing stage is marked; stages that are alike are
// folded into one row. Several lines.
std::string ExplainText(const Operation& op, const Observed& observed, const Diagnosis& diagnosis,
                        const TextStyle& style);
// With DiagnosisOfAnswer().
std::string ExplainText(const Operation& op, const Observed& observed, const TextStyle& style);

// The table of the model alone, and both results.
std::string ModelStagesText(const Operation& op, const Observed& observed, const TextStyle& style);

// Only the table.
std::string StagesText(const StageTable& stages, const TextStyle& style);

// The rows of that table: the stage, then a cell for each column, "=" where it equals the model's.
// Equal adjacent rows are folded into one.
struct StageLine {
  std::vector<std::string> cells;
  bool parts = false;  // StageTable::Row::parts
};
std::vector<StageLine> FoldStages(const StageTable& stages);

// A diagnosis from this answer alone: the neighbors that reproduce it; if none does, changes of any
// distance.
Diagnosis DiagnosisOfAnswer(const Operation& op, const Observed& observed);

}  // namespace mmadiff
