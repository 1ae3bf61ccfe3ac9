// What the results of a survey say, row by row, contradictions with the tables first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "corpus/survey_record.h"
#include "fuzz/survey/survey.h"

namespace mmadiff {

// What is wrong with a row, whatever the tables say.
struct SurveyTrouble {
  enum Kind { kTraps, kHangs, kFails, kDiedOnce, kDoesNotRepeat, kElsewhere, kGone };
  Kind kind;
  std::string where = {};  // "layout of m64n16k16"
  std::string what = {};
  std::string Text() const;  // one line
};

// One operation behind one operand source.
struct SurveyRow {
  std::string op, variant;
  bool emulated = false;
  bool modelled = true;  // else layout, repeat and recording are all
  bool slow = false;     // kSlowPace of fuzz/ask/stage.h
  // "agrees", "agrees, of dot products alone", or what is wrong.
  std::string layout = "not asked", repeat = "not asked";
  std::vector<std::string> sizes;     // other sizes whose layout agrees: "m64n16k16"
  std::vector<SurveyAnswer> answers;  // to the questions about the arithmetic, without lines
  // Of vectors and regression cases, and of what was not answered to its end.
  uint64_t lines = 0, lines_differing = 0;
  uint64_t lines_left = 0;  // dot products of vectors that were not asked yet
  uint64_t cases = 0, dot_products = 0, mismatches = 0;  // of the run
  double seconds = 0;                                    // of the run
  std::string recorded = "no";                           // "part", "yes"
  std::vector<std::string> not_asked;  // questions of a slow row; "payloads: slow"
  std::vector<SurveyTrouble> troubles;

  std::string Name() const { return variant.empty() ? op : op + " with " + variant.substr(1); }
};

// The tables are wrong about a row, or the row does not do what it should.
struct SurveyContradiction {
  std::string op, variant;
  std::string what;                        // "width: fraction_bits=24: contradicts the table: ..."
  const SurveyFinding* finding = nullptr;  // the change that explains it, with minimal cases
  std::vector<std::string> others = {};    // variants of which the same is true
  bool trouble = false;                    // of the row; else a difference from the model
  std::string Text() const;                // one line
};

struct SurveySummary {
  const SurveyOutcome* outcome = nullptr;
  std::vector<SurveyRow> rows;
  // Changes of the model that explain the device first, then differences that none explains, then
  // rows that are elsewhere, do not repeat, fail or trap.
  std::vector<SurveyContradiction> contradictions;
  int changed = 0;   // of these: differences from the model
  int troubled = 0;  // rows that are elsewhere, do not repeat, fail or trap
  std::string hardware;
  double seconds = 0;  // of all tasks

  // Whether some row can be compared with the tables.
  bool HasModel() const {
    return std::ranges::any_of(rows, [](const SurveyRow& row) { return row.modelled; });
  }
};

// Points into `outcome`.
SurveySummary Summarize(const SurveyOutcome& outcome);
SurveySummary Summarize(SurveyOutcome&& outcome) = delete;

}  // namespace mmadiff
