// What to ask next. This is all that differs between the verbs that ask a device. An agenda is a pure
// function of the options and of the results so far; the dispatcher calls it under one lock.
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

  // `elapsed`: since the dispatcher began. Nothing: all is done, or what is left depends on results
  // that are not there yet.
  virtual std::optional<Task> Next(absl::Duration elapsed) = 0;

  // The tasks that it returns run next, on the same worker, even if the work must end: the
  // investigation of a mismatch, the rest of a unit. kDataLoss: it could not be stored.
  virtual absl::StatusOr<std::vector<Task>> Take(TaskResult result) = 0;

  // `failed` is asked again, each of these tasks alone: what is left of it, several questions one by
  // one. A part that was answered before it failed is taken here.
  virtual std::vector<Task> Again(const TaskResult& failed) { return {failed.task}; }
  // Whether the row of such a task is asked nothing more.
  virtual bool GivesUp(const Task&) const { return false; }

  // Called some ten times a second. `answered`: dot products of tasks that run.
  virtual void ShowProgress(uint64_t /*answered*/) {}
};

// Stores results in the format of the verb; this one stores nothing. Errors are kDataLoss.
class TaskLog {
 public:
  virtual ~TaskLog() = default;
  virtual absl::Status Append(const TaskResult&) { return absl::OkStatus(); }
  // Called at the end.
  virtual absl::Status Flush() { return absl::OkStatus(); }
  // No more is wanted (--max_bytes).
  virtual bool full() const { return false; }
};

}  // namespace mmadiff
