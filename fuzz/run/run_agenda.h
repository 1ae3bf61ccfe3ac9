// The agenda of `run`: a planted fault and a canary for each row, then the units of the rows in
// turn. Investigates each mismatch that no known change explains.
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
  // Stores that a row leaves this unit unfinished because it has enough mismatches, and returns the
  // record. kDataLoss: the record could not be stored.
  using OnStop = std::function<absl::StatusOr<UnitResult>(uint32_t row, uint64_t unit)>;
  // `stored`: units of earlier attempts.
  RunAgenda(const RunOptions& options, const RunManifest& manifest, StoredUnits stored,
            Console& console, OnStop on_stop = nullptr);

  std::optional<Task> Next(absl::Duration elapsed) override;
  absl::StatusOr<std::vector<Task>> Take(TaskResult result) override;
  // A unit continues after its answered cases.
  std::vector<Task> Again(const TaskResult& failed) override;
  void ShowProgress(uint64_t answered) override;

  // Adds the rows and the findings to `builder`.
  RunReport::Attempt Finish(DispatchOutcome dispatched, RunReportBuilder& builder) &&;

 private:
  // A part whose mismatches are being examined. The other parts of its row wait: an earlier
  // mismatch may explain theirs, and then they are not investigated.
  struct Paused {
    UnitTask rest;
    std::vector<std::pair<CaseName, Mismatch>> differing;
    bool goes_on = true;
    size_t next = 0;  // index in `differing`
  };
  struct Row {
    const Operation* op = nullptr;
    std::string planted;
    UnitResult total;  // over finished units
    absl::Status dropped;
    bool same_asked = false;  // whether the device was compared with earlier attempts, if any
    bool stopped = false;
    uint64_t units = 0, unit_cases = 0, next = 0;
    std::vector<UnitResult> asked;               // StoredUnits::asked
    std::vector<Canary> canaries;                // to store, each with a unit
    std::optional<CanaryDifference> difference;  // between its answers and the model
    UnitSet done;
    UnitParts parts, begun;                // as in StoredUnits
    std::map<uint64_t, UnitResult> stops;  // the same, plus this attempt's
    bool given_up = false;  // the device failed in one of its units kMaxFailures times
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
  // Returns the tasks that follow after the examined mismatches.
  absl::StatusOr<std::vector<Task>> LookAtMismatches(size_t row);
  absl::Status NoteStop(size_t row, uint64_t unit);

  const RunOptions& options_;
  const RunManifest& manifest_;
  std::vector<Row> rows_;
  std::set<std::string> machines_;   // that ran finished units
  std::vector<std::string> damage_;  // units that contradict a part from an earlier attempt
  Findings findings_;
  uint64_t findings_count_ = 0;
  RunReport::Attempt attempt_;
  Console& console_;
  const OnStop on_stop_;
  std::optional<Progress> progress_;  // counts units only
  size_t plants_begun_ = 0, plants_done_ = 0, canaries_begun_ = 0, canaries_done_ = 0;
  absl::Duration begun_ = absl::ZeroDuration();  // when the first unit began
  size_t turn_ = 0;
};

// An instruction is given up after the device failed in one of its units in this many attempts.
inline constexpr uint64_t kMaxFailures = 2;

// Logs finished units, drops, and at the end the parts of unfinished units. Takes back a drop of an
// earlier attempt if this attempt resumes the instruction, or if nothing of it is left to run.
// Drops an instruction for good when the device has failed in one of its units in kMaxFailures
// attempts: the next attempt would end there too.
class RunLog : public TaskLog {
 public:
  // `restarts`: a device that fails is queried again in a fresh process. If it is then lost, the
  // cause is outside the device, and failures are not counted.
  RunLog(std::unique_ptr<UnitLog> log, const RunManifest& manifest, const StoredUnits& stored,
         bool restarts = false);
  absl::Status Append(const TaskResult& result) override;
  absl::Status Flush() override;
  // Takes back the drop of an instruction that ended normally.
  absl::Status TakeBack(uint32_t instruction) { return TakeBack(instruction, false); }
  // Stores the compared parts of the instruction, and a stop: `mismatch_limit` mismatching cases
  // ended it before `unit` was done. Returns the record of the stop.
  absl::StatusOr<UnitResult> NoteStop(uint32_t instruction, uint64_t unit, uint64_t mismatch_limit);

 private:
  absl::Status AppendDurably(const UnitResult& record);
  absl::Status Drop(uint32_t instruction, const absl::Status& why);
  // Stores a part after which the unit continues: its mismatches were examined.
  absl::Status NoteLookedAt(const UnitResult& part);
  // Counts a failure of a lost device.
  absl::Status NoteFailure(const TaskResult& result);
  // `canaries_only`: only drops that a canary caused.
  absl::Status TakeBack(uint32_t instruction, bool canaries_only);

  const std::unique_ptr<UnitLog> log_;
  const RunManifest& manifest_;
  std::vector<bool> finished_, dropped_;  // by instruction; `dropped_`: by this attempt
  std::vector<std::map<uint64_t, UnitResult>> drops_;   // StoredUnits::drops
  std::vector<std::map<uint64_t, uint64_t>> failures_;  // StoredUnits::failures
  std::map<uint32_t, UnitParts> parts_;                 // by instruction
  std::map<uint32_t, UnitParts> looked_at_;  // the same; an attempt may continue after them
  absl::Duration logged_ = {};               // time of the last record from `looked_at_`
  const bool restarts_;
};

}  // namespace mmadiff
