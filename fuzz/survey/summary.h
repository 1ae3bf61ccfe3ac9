// Summary of a survey: contradictions with the tables first, then row by row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "corpus/survey_record.h"
#include "fuzz/survey/survey.h"

namespace mmadiff {

// A problem of a row, whatever the tables predict.
struct SurveyTrouble {
  enum Kind { kTraps, kHangs, kFails, kDiedOnce, kDoesNotRepeat, kElsewhere, kGone };
  Kind kind;
  std::string where = {};  // "layout of m64n16k16"
  std::string what = {};
  std::string Text() const;  // one line
};

// One operation with one operand source.
struct SurveyRow {
  std::string op, variant;
  bool emulated = false;
  bool modelled = true;  // if false, stages that need a model are skipped (NeedsModel())
  bool slow = false;     // slower than kSlowPace (fuzz/ask/stage.h)
  // "agrees", "agrees, dot products only", or the problem.
  std::string layout = "not asked", repeat = "not asked";
  std::vector<std::string> sizes;     // other sizes whose layout agrees: "m64n16k16"
  std::vector<SurveyAnswer> answers;  // to the questions about the arithmetic, without lines
  // Dot products of vectors, of regression cases, and of unfinished tasks.
  uint64_t lines = 0, lines_differing = 0;
  uint64_t lines_left = 0;  // dot products of vectors that were not reached
  uint64_t cases = 0, dot_products = 0, mismatches = 0;  // in the run
  double seconds = 0;                                    // duration of the run
  std::string recorded = "no";                           // "part", "yes"
  std::vector<std::string> not_asked;  // questions skipped on a slow row; "payloads: slow"
  std::vector<SurveyTrouble> troubles;

  std::string Name() const { return variant.empty() ? op : op + " with " + variant.substr(1); }
};

// The tables are wrong about a row, or the row has a problem.
struct SurveyContradiction {
  std::string op, variant;
  std::string what;                        // "width: fraction_bits=24: contradicts the table: ..."
  const SurveyFinding* finding = nullptr;  // the change that explains it, with minimal cases
  std::vector<std::string> others = {};    // other variants with the same contradiction
  bool trouble = false;                    // a problem of the row; else a difference from the model
  std::string Text() const;                // one line
};

struct SurveySummary {
  const SurveyOutcome* outcome = nullptr;
  std::vector<SurveyRow> rows;
  // Differences that a change of the model explains, then unexplained differences, then rows that
  // have a different layout, do not repeat, fail or trap.
  std::vector<SurveyContradiction> contradictions;
  int changed = 0;   // the first so many contradictions are differences from the model
  int troubled = 0;  // rows that have a different layout, do not repeat, fail or trap
  std::string hardware;
  double seconds = 0;  // sum over all tasks

  // Whether some row can be compared with the tables.
  bool HasModel() const {
    return std::ranges::any_of(rows, [](const SurveyRow& row) { return row.modelled; });
  }
};

// Points into `outcome`.
SurveySummary Summarize(const SurveyOutcome& outcome);
SurveySummary Summarize(SurveyOutcome&& outcome) = delete;

}  // namespace mmadiff
