// What a survey does next: the stages in the order of value, the rows of a stage in turn, so that at
// any moment what is done is balanced. A pure function of the manifest and of the results so far:
// the survey and the process that asks the device compute the same.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "corpus/survey_record.h"

namespace mmadiff {

// Values of n that show what the table's n does not: the second stride of B, higher columns of D.
inline constexpr int kSurveySizes[] = {16, 24, 64, 128, 256};

// What of a task is asked at once: executions [first, first + count) of a unit of a run; of vectors
// and recordings the part from `first` on, which ends after so many seconds (0: at its natural end).
struct SurveyUnit {
  uint64_t first = 0, count = 0;
  double seconds = 0;
};

// A device that takes longer for a dot product is slow: its tasks are cut into what it answers in a
// few seconds. Of the fastest batch of a row's layout.
inline constexpr double kSlowPace = 500e-6;  // seconds

// Whether what is asked is held against a model. Operations without one are not asked it.
bool NeedsModel(SurveyStage stage);

// The questions of a task of all, one by one.
std::vector<SurveyTask> SingleQuestions(const SurveyTask& questions);

class SurveySchedule {
 public:
  explicit SurveySchedule(const SurveyManifest& manifest);

  // Takes the result, or its Outline(), into account: the task is done, or its next part is to be
  // done; what differs is to be explained next; a row that is elsewhere, fails or traps is asked
  // nothing more; of a slow row questions are tasks of their own, and parts end early.
  void Done(const SurveyResult& result);

  // When `elapsed` of `total` seconds are over (total 0: no limit). A stage ends at its share of
  // the time, and gets what later stages leave. Nothing: all is done, or the time is up.
  std::optional<SurveyTask> Next(double elapsed, double total) const;

  // The next part of vectors or a recording, or the next unit of a row's run: of a run with an end, units of one size; else twice as many cases
  // as before while a unit takes less than half a second, and half as many when it takes more than
  // two. `count` is 0 beyond the end.
  SurveyUnit UnitOf(const SurveyTask& task) const;

  // What is left, runs without an end left out.
  std::vector<SurveyTask> Pending() const;
  // What is not done of rows of which nothing more is asked.
  std::vector<SurveyTask> GivenUp() const;
  // Rows (ARCH/INSTRUCTION, variant) of which nothing more is asked.
  bool IsExcluded(const SurveyTask& task) const {
    return excluded_.contains({task.op, task.variant});
  }

 private:
  using Row = std::pair<std::string, std::string>;  // operation, variant
  struct Run {
    const SurveyManifest::Instruction* instruction;
    uint64_t number = 0, first = 0, count = 0;  // of the next unit
    double seconds = 0;
    bool ended = false;
  };

  // `lost`: of a row after which the device was gone once.
  std::optional<SurveyTask> NextOf(SurveyStage stage, bool lost) const;
  void Explain(const SurveyResult& result);
  void SetSlow(const Row& row, double pace);
  void AddPart(const SurveyResult& result);
  void Count(const SurveyResult& result, Run& run) const;

  const SurveyManifest& manifest_;
  std::array<std::vector<SurveyTask>, kSurveyStages> tasks_;  // in their order
  std::vector<std::pair<Row, Run>> runs_;                     // in the order of rows
  std::set<SurveyTask> done_;
  std::set<Row> excluded_, contradicted_;
  std::map<Row, int> lost_;  // how often the device was gone after it was asked
  std::map<Row, int> traps_;
  std::set<Row> slow_;
  std::map<SurveyTask, uint64_t> begin_;  // of parts but the first
};

}  // namespace mmadiff
