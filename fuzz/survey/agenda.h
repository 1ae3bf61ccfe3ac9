// Chooses the next task of a survey: the most valuable stages first, the rows of a stage in turn,
// so that progress is balanced at any moment. A pure function of the manifest and the results so
// far.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "corpus/survey_log.h"
#include "corpus/survey_record.h"
#include "fuzz/ask/agenda.h"
#include "fuzz/output/console.h"

namespace mmadiff {

// Values of n that test what the table's n cannot: the second stride of B, higher columns of D.
inline constexpr int kSurveySizes[] = {16, 24, 64, 128, 256};

// Splits a task with all questions into tasks with one question each.
std::vector<SurveyTask> SingleQuestions(const SurveyTask& questions);

// The records to store for a result: the part answered before an error, if any, and the outcome of
// the task.
std::vector<SurveyResult> StoredOf(const TaskResult& result);

class SurveyAgenda : public Agenda {
 public:
  // `total`: time for the whole survey. `console` may be nullptr.
  explicit SurveyAgenda(const SurveyManifest& manifest,
                        absl::Duration total = absl::InfiniteDuration(),
                        Console* console = nullptr);

  // Takes a result of an earlier attempt into account, and keeps some of the device's answers. They
  // are checked again before the next task of their row.
  void Earlier(const SurveyResult& result);
  // Takes a result into account. The task is done, or its next part is scheduled; differences are
  // explained next; a dropped row gets no more tasks; on a slow row each question is a task of its
  // own and parts end early.
  void Done(const SurveyResult& result);

  // A stage ends at its share of the time; it continues later if other stages leave time. Nothing
  // if all is done or the time is up.
  std::optional<Task> Next(absl::Duration elapsed) override;
  absl::StatusOr<std::vector<Task>> Take(TaskResult result) override;
  std::vector<Task> Again(const TaskResult& failed) override;
  bool GivesUp(const Task& task) const override;
  void ShowProgress(uint64_t answered) override;

  // The task that Next() chooses after `elapsed` of `total` seconds (total 0: no limit).
  std::optional<SurveyTask> Choose(double elapsed, double total) const;
  // The next part of vectors or a recording, or the next unit of a row's run. In a run with an end
  // all units have one size. Otherwise the size doubles while a unit takes less than half a second
  // and halves when a unit takes more than two seconds. `count` is 0 beyond the end.
  TaskPart PartOf(const SurveyTask& task) const;

  // The remaining tasks, except runs without an end that have begun.
  std::vector<SurveyTask> Pending() const;
  // The remaining tasks of excluded rows.
  std::vector<SurveyTask> GivenUp() const;
  // Whether the row (ARCH/INSTRUCTION, variant) of the task gets no more tasks.
  bool IsExcluded(const SurveyTask& task) const {
    return excluded_.contains({task.op, task.variant});
  }

 private:
  using Row = std::pair<std::string, std::string>;  // operation, variant
  struct Run {
    const SurveyManifest::Instruction* instruction;
    uint64_t number = 0, first = 0, count = 0;  // the next unit
    double seconds = 0;
    bool ended = false;
  };

  Task TaskOf(const SurveyTask& name);
  bool Drops(const SurveyResult& result);
  // `lost`: choose among the rows that lost the device before; otherwise among the others.
  std::optional<SurveyTask> NextOf(SurveyStage stage, bool lost) const;
  void Explain(const SurveyResult& result);
  void SetSlow(const Row& row, double pace);
  void AddPart(const SurveyResult& result);
  void Count(const SurveyResult& result, Run& run) const;

  const SurveyManifest& manifest_;
  const absl::Duration total_;
  Console* const console_;
  std::array<std::vector<SurveyTask>, kSurveyStages> tasks_;  // in their order
  std::vector<std::pair<Row, Run>> runs_;                     // in the order of rows
  std::set<SurveyTask> done_;
  std::set<Row> excluded_, contradicted_;
  std::map<Row, int> lost_;  // number of times the device was lost after a task of the row
  std::map<Row, int> traps_;
  std::set<Row> slow_;
  std::map<Row, std::vector<std::string>> earlier_;  // lines to check again
  std::map<Row, uint64_t> canaries_;                 // canary tasks so far
  std::set<Row> changed_;                            // rows whose canary failed in this attempt
  std::map<SurveyTask, uint64_t> begin_;             // start of each part but the first
  std::map<Row, size_t> numbers_;                    // rows in the order of their first task
  std::string asked_;                                // the last task, as text
  size_t results_ = 0;
};

// Keeps all results, in the folder and in memory.
class SurveyTaskLog : public TaskLog {
 public:
  // The log may use half of `max_bytes`.
  SurveyTaskLog(SurveyLog& log, uint64_t max_bytes, std::vector<SurveyResult>& results)
      : log_(log), max_bytes_(max_bytes), results_(results) {}

  absl::Status Append(const TaskResult& result) override;
  bool full() const override;

 private:
  SurveyLog& log_;
  const uint64_t max_bytes_;
  std::vector<SurveyResult>& results_;
};

}  // namespace mmadiff
