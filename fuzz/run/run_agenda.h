// The agenda of `run`: a planted fault for each row, then the units of the rows in turn, with an
// investigation of each mismatch that nothing known explains.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "fuzz/ask/agenda.h"
#include "fuzz/ask/dispatcher.h"
#include "fuzz/folder/findings.h"
#include "fuzz/folder/unit_log.h"
#include "fuzz/output/progress.h"
#include "fuzz/run/run.h"

namespace mmadiff {

class RunAgenda : public Agenda {
 public:
  // Stores that a row leaves this unit unfinished since it has enough mismatches; returns the record. kDataLoss: it could
  // not be stored.
  using OnStop = std::function<absl::StatusOr<UnitResult>(uint32_t row, uint64_t unit)>;
  // `stored`: of earlier attempts.
  RunAgenda(const RunOptions& options, const RunManifest& manifest, StoredUnits stored,
            Console& console, OnStop on_stop = nullptr);

  std::optional<Task> Next(absl::Duration elapsed) override;
  absl::StatusOr<std::vector<Task>> Take(TaskResult result) override;
  // A unit goes on behind what was answered.
  std::vector<Task> Again(const TaskResult& failed) override;
  void ShowProgress(uint64_t answered) override;

  // Adds the rows and the findings.
  RunReport::Attempt Finish(DispatchOutcome dispatched, RunReportBuilder& builder) &&;

 private:
  // A part whose mismatches are being looked at; the others of its row wait behind it, so that none
  // is investigated that the one before explains.
  struct Paused {
    UnitTask rest;
    std::vector<std::pair<CaseName, Mismatch>> differing;
    bool goes_on = true;
    size_t next = 0;  // of differing
  };
  struct Row {
    const Operation* op = nullptr;
    std::string planted;
    UnitResult total;  // of units that are done
    absl::Status dropped;
    bool same_asked = false;  // whether the device is that of earlier attempts, if there are any
    bool stopped = false;
    uint64_t units = 0, unit_cases = 0, next = 0;
    std::vector<UnitResult> asked;               // StoredUnits::asked
    std::vector<Canary> canaries;                // to be stored, each with a unit
    std::optional<CanaryDifference> difference;  // of its answers from the model
    UnitSet done;
    UnitParts parts, begun;                // as in StoredUnits
    std::map<uint64_t, UnitResult> stops;  // the same, and of this attempt
    bool given_up = false;                 // the device failed in one of its units again and again
    std::deque<Paused> paused;
    bool investigating = false;
  };

  CaseStream StreamOf(size_t row, uint64_t unit) const;
  CanaryTask CanaryOf(size_t row);
  std::optional<UnitTask> NextUnit(size_t row);
  uint64_t EndOf(const Row& row, uint64_t unit) const;
  bool Finished(const Row& row) const;
  uint64_t RemainingDotProducts() const;
  void LoadFindings(const RunManifest& manifest);
  void Count(Row& row, const UnitTask& task, UnitAnswer answer, const absl::Status& status);
  // What follows the mismatches that were looked at.
  absl::StatusOr<std::vector<Task>> LookAtMismatches(size_t row);
  absl::Status NoteStop(size_t row, uint64_t unit);

  const RunOptions& options_;
  const RunManifest& manifest_;
  std::vector<Row> rows_;
  std::set<std::string> machines_;   // that did units that are done
  std::vector<std::string> damage_;  // units that contradict what an earlier attempt left of them
  Findings findings_;
  uint64_t findings_count_ = 0;
  RunReport::Attempt attempt_;
  Console& console_;
  const OnStop on_stop_;
  std::optional<Progress> progress_;  // of the units
  size_t plants_begun_ = 0, plants_done_ = 0, canaries_begun_ = 0, canaries_done_ = 0;
  absl::Duration begun_ = absl::ZeroDuration();  // when the first unit was
  size_t turn_ = 0;
};

// Attempts that the device ends by failing in one unit, before its instruction is given up.
inline constexpr uint64_t kMaxFailures = 2;

// The units that are done, the drops, and at the end the parts of those that are not. What an earlier attempt dropped
// and this one goes on with, or has nothing left of, is dropped no more. An instruction is dropped for good when
// the device has failed in one unit of it in kMaxFailures attempts: another would end there too.
class RunLog : public TaskLog {
 public:
  // `restarts`: a device that fails is asked again in a fresh process, so what it is lost for lies outside it.
  RunLog(std::unique_ptr<UnitLog> log, const RunManifest& manifest, const StoredUnits& stored,
         bool restarts = false);
  absl::Status Append(const TaskResult& result) override;
  absl::Status Flush() override;
  // Of an instruction that ended as it should.
  absl::Status TakeBack(uint32_t instruction) { return TakeBack(instruction, false); }
  // Stores what was compared of the instruction, and that so many mismatching cases ended it before `unit` was done; returns
  // the record of that.
  absl::StatusOr<UnitResult> NoteStop(uint32_t instruction, uint64_t unit, uint64_t mismatch_limit);

 private:
  absl::Status AppendDurably(const UnitResult& record);
  absl::Status Drop(uint32_t instruction, const absl::Status& why);
  // The part behind which the unit goes on: its mismatches were looked at.
  absl::Status NoteLookedAt(const UnitResult& part);
  // Of a device that is lost.
  absl::Status NoteFailure(const TaskResult& result);
  // `canaries_only`: what a canary said.
  absl::Status TakeBack(uint32_t instruction, bool canaries_only);

  const std::unique_ptr<UnitLog> log_;
  const RunManifest& manifest_;
  std::vector<bool> finished_, dropped_;                // by instruction; by this attempt
  std::vector<std::map<uint64_t, UnitResult>> drops_;   // StoredUnits::drops
  std::vector<std::map<uint64_t, uint64_t>> failures_;  // StoredUnits::failures
  std::map<uint32_t, UnitParts> parts_;                 // by instruction
  std::map<uint32_t, UnitParts> looked_at_;  // the same, behind which an attempt may go on
  absl::Duration logged_ = {};               // when one of these was
  const bool restarts_;
};

}  // namespace mmadiff
