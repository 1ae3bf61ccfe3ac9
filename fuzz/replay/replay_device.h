// A device that `replay` asks: operations that fail alone are dropped, and what differs from the
// model is asked five times in all, until an answer is another one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "device/device.h"
#include "fuzz/engine/engine.h"
#include "fuzz/engine/recompute.h"
#include "fuzz/output/console.h"
#include "fuzz/verdict/drop.h"
#include "triage/verdict.h"

namespace mmadiff {

struct ConfirmedAnswers {
  Answers said, again;    // `again` is empty if all is as the model has it
  Comparison comparison;  // of `said`; without what is flaky
  // Of the executions whose two answers are not the same: dot products that differ from the model
  // or from themselves, ascending.
  std::vector<int64_t> flaky = {};
};

// Of what was asked once.
ConfirmedAnswers AnswersTo(const Operation& op, const Batch& inputs, Answers said);

class ReplayDevice {
 public:
  // The device has an engine for each thread, as Engines says.
  ReplayDevice(Engine& engine, int threads, EngineOpener open, Console& console)
      : engines_(engine, threads, std::move(open)), device_(engine.device()), console_(console) {}

  // Nothing when the operation was dropped, before or by this error; another error of the device is
  // returned.
  // `always`: it is asked five times also where all is as the model has it.
  absl::StatusOr<std::optional<ConfirmedAnswers>> Ask(const Operation& op, const Batch& inputs,
                                                      bool always = false);
  // A dot product that is the last of so many equal ones of a fresh process, up to five times until it
  // has another answer than the model's. Nothing as above.
  absl::StatusOr<std::optional<ConfirmedAnswers>> AskAt(const Operation& op, const Batch& dot,
                                                        uint64_t age);
  // The digest of the answers to a unit, and another where it is not the model's. Nothing when the
  // operation was dropped or the device lacks it, or the thread has no engine. Other threads than
  // the first call this alone.
  std::vector<absl::StatusOr<Digest>> AskDigest(const RecomputedUnit& unit, int thread);
  // As it was asked in another thread, else now; of an operation that the device has and that was
  // not dropped.
  std::vector<absl::StatusOr<Digest>> DigestOf(const RecomputedUnit& unit) {
    return unit.answers.empty() ? AskDigest(unit, 0) : unit.answers;
  }
  // Whether the error drops the operation, which is said once; asks of it are left out from then
  // on.
  bool Drops(const Operation& op, const absl::Status& s);
  bool Dropped(const Operation& op) const;
  bool Lacks(const Operation& op) {
    if (Dropped(op)) return false;
    absl::Status s = device_.Supports(op);
    if (s.ok()) return false;
    lack_ = std::move(s);
    return true;
  }
  const absl::Status& lack() const { return lack_; }  // the last

  Device& device() { return device_; }
  std::vector<Drop> dropped() const;         // one for each operation
  uint64_t flaky() const { return flaky_; }  // dot products

 private:
  Engines engines_;
  Device& device_;
  Console& console_;
  mutable absl::Mutex mutex_;
  std::map<const Operation*, Drop> dropped_ ABSL_GUARDED_BY(mutex_);
  uint64_t flaky_ = 0;
  absl::Status lack_;
};

}  // namespace mmadiff
