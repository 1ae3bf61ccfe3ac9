// What a survey asks next: the stages in the order of value, the rows of a stage in turn, so that at
// any moment what is done is balanced. A pure function of the manifest and of the results so far.
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

// Values of n that show what the table's n does not: the second stride of B, higher columns of D.
inline constexpr int kSurveySizes[] = {16, 24, 64, 128, 256};

// The questions of a task of all, one by one.
std::vector<SurveyTask> SingleQuestions(const SurveyTask& questions);

// What is stored of a result: a part that was answered before an error, and what came of the task.
std::vector<SurveyResult> StoredOf(const TaskResult& result);

class SurveyAgenda : public Agenda {
 public:
  // `total`: of the whole survey. `console` may be nullptr.
  explicit SurveyAgenda(const SurveyManifest& manifest,
                        absl::Duration total = absl::InfiniteDuration(),
                        Console* console = nullptr);

  // Takes a result of an earlier attempt into account, and keeps some of the device's answers: before a row is asked
  // more, they are asked again.
  void Earlier(const SurveyResult& result);
  // Takes a result into account: the task is done, or its next part is
  // to be done; what differs is to be explained next; a row that is dropped is asked nothing more;
  // of a slow row questions are tasks of their own, and parts end early.
  void Done(const SurveyResult& result);

  // A stage ends at its share of the time, and gets what later stages leave. Nothing: all is done,
  // or the time is up.
  std::optional<Task> Next(absl::Duration elapsed) override;
  absl::StatusOr<std::vector<Task>> Take(TaskResult result) override;
  std::vector<Task> Again(const TaskResult& failed) override;
  bool GivesUp(const Task& task) const override;
  void ShowProgress(uint64_t answered) override;

  // Next(): when `elapsed` of `total` seconds are over (total 0: no limit).
  std::optional<SurveyTask> Choose(double elapsed, double total) const;
  // The next part of vectors or a recording, or the next unit of a row's run: of a run with an end,
  // units of one size; else twice as many cases as before while a unit takes less than half a
  // second, and half as many when it takes more than two. `count` is 0 beyond the end.
  TaskPart PartOf(const SurveyTask& task) const;

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

  Task TaskOf(const SurveyTask& name);
  bool Drops(const SurveyResult& result);
  // `lost`: of a row after which the device was gone once.
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
  std::map<Row, int> lost_;  // how often the device was gone after it was asked
  std::map<Row, int> traps_;
  std::set<Row> slow_;
  std::map<Row, std::vector<std::string>> earlier_;  // lines that are to be asked again
  std::map<Row, uint64_t> canaries_;                 // that were asked
  std::set<Row> changed_;                            // by a canary of this attempt
  std::map<SurveyTask, uint64_t> begin_;             // of parts but the first
  std::map<Row, size_t> numbers_;                    // of rows that were asked
  std::string asked_;                                // last, in words
  size_t results_ = 0;
};

// Keeps all results, in the folder and here.
class SurveyTaskLog : public TaskLog {
 public:
  // Of which the log may have half `max_bytes`.
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
