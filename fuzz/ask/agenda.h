// An agenda chooses the next task for a device. Verbs that query a device differ only in their
// agenda, which is a pure function of the options and the results so far. The dispatcher calls it
// under one lock.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "fuzz/ask/task.h"

namespace mmadiff {

class Agenda {
 public:
  virtual ~Agenda() = default;

  // `elapsed`: time since the dispatcher began. Nothing: all is done, or the remaining tasks depend
  // on results that are still missing.
  virtual std::optional<Task> Next(absl::Duration elapsed) = 0;

  // The returned tasks run next, on the same worker, even if the work must end: the investigation
  // of a mismatch, the rest of a unit. kDataLoss: the result could not be stored.
  virtual absl::StatusOr<std::vector<Task>> Take(TaskResult result) = 0;

  // The tasks that retry `failed`, each run alone: the rest of it, or its questions one by one.
  // Keeps the part answered so far.
  virtual std::vector<Task> Again(const TaskResult& failed) { return {failed.task}; }
  // Whether the row of the task gets no more tasks.
  virtual bool GivesUp(const Task&) const { return false; }

  // Called about ten times per second. `answered`: dot products answered in the running tasks.
  virtual void ShowProgress(uint64_t /*answered*/) {}
};

// Stores results in the format of the verb; this one stores nothing. Errors are kDataLoss.
class TaskLog {
 public:
  virtual ~TaskLog() = default;
  virtual absl::Status Append(const TaskResult&) { return absl::OkStatus(); }
  // Called at the end.
  virtual absl::Status Flush() { return absl::OkStatus(); }
  // Whether the log has reached its limit (--max_bytes).
  virtual bool full() const { return false; }
};

}  // namespace mmadiff
