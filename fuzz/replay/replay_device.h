// A device for `replay`. Operations that fail alone are dropped. A mismatch is repeated, five
// executions in all, or until an answer differs from the first.
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
  Answers said, again;    // `again` is empty if the answers were not repeated
  Comparison comparison;  // for `said`, without flaky dot products
  // In the executions whose two answers are different: dot products that differ from the model or
  // between the answers, ascending.
  std::vector<int64_t> flaky = {};
};

// For answers that were given once.
ConfirmedAnswers AnswersTo(const Operation& op, const Batch& inputs, Answers said);

class ReplayDevice {
 public:
  // The device has an engine for each thread, as in Engines.
  ReplayDevice(Engine& engine, int threads, EngineOpener open, Console& console)
      : engines_(engine, threads, std::move(open)), device_(engine.device()), console_(console) {}

  // Returns nothing if the operation was dropped, earlier or by this error. Other device errors are
  // returned. `always`: execute five times even if all answers equal the model's.
  absl::StatusOr<std::optional<ConfirmedAnswers>> Ask(const Operation& op, const Batch& inputs,
                                                      bool always = false);
  // Executes the dot product at the given age of a fresh process, as the last of equal ones; up to
  // five times, until the answer differs from the model's. Returns nothing as above.
  absl::StatusOr<std::optional<ConfirmedAnswers>> AskAt(const Operation& op, const Batch& dot,
                                                        uint64_t age);
  // The digest of the answers to a unit; if it differs from the model's or the recorded one, also the
  // repeated digests. Empty if the operation was dropped, the device lacks it, or the thread has no
  // engine. This is the only member function that threads other than the first may call.
  std::vector<absl::StatusOr<Digest>> AskDigest(const RecomputedUnit& unit, int thread);
  // Whether the error drops the operation. Warns once; from then on the operation is skipped.
  bool Drops(const Operation& op, const absl::Status& s);
  bool Dropped(const Operation& op) const;
  bool Lacks(const Operation& op) {
    if (Dropped(op)) return false;
    absl::Status s = device_.Supports(op);
    if (s.ok()) return false;
    lack_ = std::move(s);
    return true;
  }
  const absl::Status& lack() const { return lack_; }  // the last error of Lacks()

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
