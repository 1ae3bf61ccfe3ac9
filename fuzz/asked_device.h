// A device that `replay` asks: operations that fail alone are dropped, and what differs from the
// model is asked once more.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/device.h"
#include "fuzz/console.h"
#include "fuzz/engine.h"
#include "fuzz/replay_report.h"
#include "triage/verdict.h"

namespace mmadiff {

struct AskedAnswers {
  std::vector<uint64_t> d, again;  // `again` is empty if all is as the model has it
  Comparison comparison;           // of `d`; without what is flaky
  // Of the executions whose two answers are not the same: dot products that differ from the model
  // or from themselves, ascending.
  std::vector<int64_t> flaky;
};

class AskedDevice {
 public:
  AskedDevice(Engine& engine, Console& console)
      : engine_(engine), device_(engine.device()), console_(console) {}

  // Nothing when the operation was dropped, before or by this error; another error of the device is
  // returned.
  absl::StatusOr<std::optional<AskedAnswers>> Ask(const Operation& op, const Batch& inputs);
  // Whether the error drops the operation, which is said once; asks of it are left out from then
  // on.
  bool Drops(const Operation& op, const absl::Status& s);
  bool Dropped(const Operation& op) const { return dropped_.contains(op.name); }
  bool Lacks(const Operation& op) const { return !Dropped(op) && !device_.Supports(op).ok(); }

  Engine& engine() { return engine_; }
  Device& device() { return device_; }
  std::vector<absl::Status> dropped() const;  // one for each operation
  uint64_t flaky() const { return flaky_; }   // dot products

 private:
  Engine& engine_;
  Device& device_;
  Console& console_;
  std::map<std::string, absl::Status> dropped_;
  uint64_t flaky_ = 0;
};

// Of dot product `element`, which is flaky; `title` in place of where and the device if not empty.
ReplayReport ReportFlaky(const Operation& op, const Batch& inputs, const AskedAnswers& answers,
                         int64_t element, const std::string& where, const std::string& device,
                         const std::string& title, const TextStyle& style);

}  // namespace mmadiff
