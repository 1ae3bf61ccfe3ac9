// The agenda of `run`: a planted fault and a canary for each row, then the units of the rows in
// turn. Each mismatch that no known change explains is investigated.
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
  // Stores that the row stopped in this unit because it has enough mismatches; returns the record.
  // kDataLoss: it could not be stored.
  using OnStop = std::function<absl::StatusOr<UnitResult>(uint32_t row, uint64_t unit)>;
  // `stored`: from earlier attempts.
  RunAgenda(const RunOptions& options, const RunManifest& manifest, StoredUnits stored,
            Console& console, OnStop on_stop = nullptr);

  std::optional<Task> Next(absl::Duration elapsed) override;
  absl::StatusOr<std::vector<Task>> Take(TaskResult result) override;
  // A retried unit continues after its last answered case.
  std::vector<Task> Again(const TaskResult& failed) override;
  void ShowProgress(uint64_t answered) override;

  // Adds the rows and the findings.
  RunReport::Attempt Finish(DispatchOutcome dispatched, RunReportBuilder& builder) &&;

 private:
  // A part whose mismatches are being handled. Other parts of its row wait, so that a mismatch is
  // not investigated if an earlier one explains it.
  struct Paused {
    UnitTask rest;
    std::vector<std::pair<CaseName, Mismatch>> differing;
    bool goes_on = true;
    size_t next = 0;  // index into `differing`
  };
  struct Row {
    const Operation* op = nullptr;
    std::string planted;
    UnitResult total;  // sum over finished units
    absl::Status dropped;
    bool same_asked = false;  // the check against earlier attempts is done, or not needed
    bool stopped = false;
    uint64_t units = 0, unit_cases = 0, next = 0;
    std::vector<UnitResult> asked;               // StoredUnits::asked
    std::vector<Canary> canaries;                // to be stored, each with a unit
    std::optional<CanaryDifference> difference;  // between the new canary and the model
    UnitSet done;
    UnitParts parts, begun;                // as in StoredUnits
    std::map<uint64_t, UnitResult> stops;  // from StoredUnits and this attempt
    bool given_up = false;                 // the device failed in one unit in kMaxFailures attempts
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
  // Handles mismatches until one needs an investigation. Returns the tasks that follow.
  absl::StatusOr<std::vector<Task>> LookAtMismatches(size_t row);
  absl::Status NoteStop(size_t row, uint64_t unit);

  const RunOptions& options_;
  const RunManifest& manifest_;
  std::vector<Row> rows_;
  std::set<std::string> machines_;   // machines that executed finished units
  std::vector<std::string> damage_;  // contradictory answers to units
  Findings findings_;
  uint64_t findings_count_ = 0;
  RunReport::Attempt attempt_;
  Console& console_;
  const OnStop on_stop_;
  std::optional<Progress> progress_;  // progress of the units
  size_t plants_begun_ = 0, plants_done_ = 0, canaries_begun_ = 0, canaries_done_ = 0;
  absl::Duration begun_ = absl::ZeroDuration();  // start of the first unit
  size_t turn_ = 0;
};

// After the device failed in one unit in this many attempts, the instruction is given up.
inline constexpr uint64_t kMaxFailures = 2;

// Logs finished units, drops, and at the end the parts of unfinished units. A drop by an earlier
// attempt is revoked when this attempt continues the instruction or has nothing left to do for it.
// An instruction is dropped for good when the device has failed in one unit of it in kMaxFailures
// attempts, because the next attempt would end there, too.
class RunLog : public TaskLog {
 public:
  // `restarts`: a failed device is retried in a fresh process; then failures do not count against
  // an instruction.
  RunLog(std::unique_ptr<UnitLog> log, const RunManifest& manifest, const StoredUnits& stored,
         bool restarts = false);
  absl::Status Append(const TaskResult& result) override;
  absl::Status Flush() override;
  // Revokes the drops of an instruction that ended normally.
  absl::Status TakeBack(uint32_t instruction) { return TakeBack(instruction, false); }
  // Stores the compared parts of the instruction, and that `mismatch_limit` mismatching cases
  // stopped it before `unit` was done. Returns the record of the stop.
  absl::StatusOr<UnitResult> NoteStop(uint32_t instruction, uint64_t unit, uint64_t mismatch_limit);

 private:
  absl::Status AppendDurably(const UnitResult& record);
  absl::Status Drop(uint32_t instruction, const absl::Status& why);
  // Stores a part whose mismatches were handled, from which the unit can continue.
  absl::Status NoteLookedAt(const UnitResult& part);
  // Counts a failure of a device that was lost.
  absl::Status NoteFailure(const TaskResult& result);
  // `canaries_only`: revoke only drops caused by a canary.
  absl::Status TakeBack(uint32_t instruction, bool canaries_only);

  const std::unique_ptr<UnitLog> log_;
  const RunManifest& manifest_;
  std::vector<bool> finished_, dropped_;                // by instruction; dropped in this attempt
  std::vector<std::map<uint64_t, UnitResult>> drops_;   // StoredUnits::drops
  std::vector<std::map<uint64_t, uint64_t>> failures_;  // StoredUnits::failures
  std::map<uint32_t, UnitParts> parts_;                 // by instruction
  std::map<uint32_t, UnitParts> looked_at_;             // by instruction; NoteLookedAt()
  absl::Duration logged_ = {};                          // time when one of these was last logged
  const bool restarts_;
};

}  // namespace mmadiff
