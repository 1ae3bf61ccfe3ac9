// One dot product stage by stage, for people.
#pragma once

#include <string>
#include <vector>

#include "sim/operation.h"
#include "triage/diagnosis/diagnosis.h"
#include "triage/explain.h"
#include "triage/stage_table.h"
#include "triage/text_table.h"

namespace mmadiff {

// A table of the stages of the model beside those of the first changes of `diagnosis` (at most
// three), which give the device's answer, the first differing stage marked; what all have alike is
// there once. Many lines.
std::string ExplainText(const Operation& op, const Observed& observed, const Diagnosis& diagnosis,
                        const TextStyle& style);
// Of DiagnosisOfAnswer().
std::string ExplainText(const Operation& op, const Observed& observed, const TextStyle& style);

// The table alone.
std::string StagesText(const StageTable& stages, const TextStyle& style);

// The rows of that table: the stage, then a cell for each column, "=" where it is the model's;
// alike neighbours are one row.
struct StageLine {
  std::vector<std::string> cells;
  bool parts = false;  // StageTable::Row::parts
};
std::vector<StageLine> FoldStages(const StageTable& stages);

// What one answer says alone: neighbours that give it; where none does, changes of any distance.
Diagnosis DiagnosisOfAnswer(const Operation& op, const Observed& observed);

}  // namespace mmadiff
