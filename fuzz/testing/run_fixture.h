// Runs in this process, for tests.
#pragma once

#include <gmock/gmock.h>

#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "corpus/cases/generate.h"
#include "corpus/hex.h"
#include "corpus/recordings/recording.h"
#include "corpus/regression_case.h"
#include "corpus/testing/folder.h"
#include "device/status_macros.h"
#include "fuzz/ask/canary.h"
#include "fuzz/folder/unit_log.h"
#include "fuzz/folder/workdir.h"
#include "fuzz/report/run_status.h"
#include "fuzz/report/run_text.h"
#include "fuzz/run/run.h"
#include "fuzz/testing/operations.h"
#include "fuzz/unit/devices.h"
#include "fuzz/unit/digest.h"
#include "fuzz/unit/unit_runner.h"
#include "sim/parameter.h"
#include "sim/simulate.h"

namespace mmadiff {
constexpr char kMma[] = "sm_80/mma.m16n8k8.f32.f16.f16.f32";  // 2048 cases a unit
constexpr char kHopper[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";
constexpr char kInteger[] = "x86/vpdpbusd";  // 16384 cases a unit

// A healthy simulator under a name of its own, with what a test lets happen in each Run().
class Scripted : public Device {
 public:
  using Script = std::function<absl::Status(int64_t run)>;  // an error instead of an answer
  explicit Scripted(Script script) : script_(std::move(script)) {}

  std::string name() const override { return "scripted"; }
  Identity identity() const override { return Identity::Named("scripted"); }
  bool Emulates(const Operation& op) const override { return !IsNative(op); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    if (IsCanary(batch)) return simulator_->Run(op, batch, d);
    RETURN_IF_ERROR(script_(++runs_));
    return simulator_->Run(op, batch, d);
  }
  // What a run asks before its units, which no script counts.
  static bool IsCanary(const Batch& batch) {
    return batch.shape.d_words() == 1 && batch.count % kMinCanaries == 0;
  }

 private:
  Script script_;
  int64_t runs_ = 0;
  std::unique_ptr<Device> simulator_ = *OpenDevice("faulty:none=0");
};

using DeviceOpener = std::function<DeviceOr()>;

inline DeviceOpener Opener(Scripted::Script script) {
  return [script]() -> DeviceOr { return std::make_unique<Scripted>(script); };
}

inline bool Unrepeated(const RunReport& outcome) {
  return outcome.rows[0].state == RunReportRow::kUnrepeated;
}

class RunTest : public TestFolder {
 protected:
  RunOptions Options(const std::string& folder, std::vector<const char*> ops = {kMma}) const {
    RunOptions options;
    for (const char* op : ops) options.ops.push_back(FindOperation(op));
    options.strategy = &Strategies().front();
    options.cases = 9000;  // of kMma: four units and a rest
    options.print_findings = false;
    options.workdir = Path(folder);
    return options;
  }

  absl::StatusOr<RunReport> Try(const RunOptions& options, const DeviceOpener& open) {
    const auto open_engine = [&open]() -> EngineOr {
      ASSIGN_OR_RETURN(std::unique_ptr<Device> device, open());
      return std::make_unique<HostEngine>(std::move(device));
    };
    return ExecuteRun(options, open_engine, console_);
  }
  RunReport Run(const RunOptions& options, const DeviceOpener& open) {
    absl::StatusOr<RunReport> outcome = Try(options, open);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome.ok() ? *std::move(outcome) : RunReport();
  }
  RunReport Run(const RunOptions& options, const std::string& device = "faulty:none=0") {
    return Run(options, [device] { return OpenDevice(device); });
  }
  // As `status` and `report` see it.
  RunStatus Stored(const std::string& folder) const {
    absl::StatusOr<RunStatus> status = ReadRunStatus(Path(folder));
    EXPECT_TRUE(status.ok()) << status.status();
    return *std::move(status);
  }
  // With a time limit in which at least so much is answered: one that doubles until it is so, for
  // that depends on the machine.
  RunReport RunLimited(RunOptions options, const DeviceOpener& open, uint64_t dot_products = 1) {
    for (absl::Duration limit = absl::Milliseconds(10);; limit *= 2) {
      options.limit = TimeLimit::After(limit);
      RunReport outcome = Run(options, open);
      if (outcome.attempt->dot_products >= dot_products) return outcome;
      std::filesystem::remove_all(options.workdir);
    }
  }

 private:
  Console console_{Color::kNever, true};
};

inline std::vector<std::string> Files(const std::string& folder, const char* extension) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace mmadiff
