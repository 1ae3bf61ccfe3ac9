// An engine runs units of cases on a device: it generates the cases, has the device execute them,
// simulates, compares, counts and digests. It does this on the host, or entirely on the GPU
// (fuzz/gpu/resident.h); bits, counts and digests are the same.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "corpus/cases/case_name.h"
#include "corpus/run_record.h"
#include "device/device.h"
#include "fuzz/unit/unit_runner.h"

namespace mmadiff {

// The purpose of a unit, which determines its size.
enum class UnitOf { kRun, kEndlessRun, kRecording };
// Maximum dot products in a unit of a recording, whatever engine made it.
inline constexpr uint64_t kMaxRecordedDotProducts = 1 << 24;

// One object serves one thread.
class Engine {
 public:
  virtual ~Engine() = default;
  Device& device() const { return *device_; }

  // As UnitRunner::Run(), with a pace for a slow device (Device::IsSlow).
  virtual absl::StatusOr<uint64_t> Run(const CaseStream& stream, uint64_t first, uint64_t count,
                                       UnitResult& result, OnMismatch found);
  // The digest of the device's answers to these cases.
  virtual absl::StatusOr<Digest> AnswerDigest(const CaseStream& stream, uint64_t first,
                                              uint64_t count);
  // The pace of a slow device, else nullptr.
  Pace* PaceOf(const Operation& op) { return device().IsSlow() ? &paces_[&op] : nullptr; }
  // A test that an operation must pass before its answers are used: the first case, which also
  // confirms the layout, has the same answers twice (else kDataLoss), and the engine's self-test,
  // if it has one, passes.
  virtual absl::Status Try(const CaseStream& stream);

  // Whether units stay on the device: they are larger, and one thread is enough.
  virtual bool resident() const { return false; }
  // Executions in a unit, at least one: a fraction of a second, or a few answers of a slow device.
  virtual uint64_t UnitCases(const CaseStream& stream, UnitOf purpose) const;
  // The reason why the engine is slower than it could be, or why "auto" found no GPU; empty if all
  // is well. Every verb prints it.
  const std::string& warning() const { return warning_; }

 protected:
  explicit Engine(Device& device) : device_(&device) {}
  explicit Engine(std::unique_ptr<Device> device)
      : owned_(std::move(device)), device_(owned_.get()) {}

  std::string warning_;

 private:
  std::unique_ptr<Device> owned_;
  Device* device_;
  std::map<const Operation*, Pace> paces_;
};

// An engine that generates and compares cases on the host and has the device execute them.
class HostEngine : public Engine {
 public:
  explicit HostEngine(Device& device) : Engine(device) {}
  explicit HostEngine(std::unique_ptr<Device> device, std::string warning = "")
      : Engine(std::move(device)) {
    warning_ = std::move(warning);
  }
};

using EngineOr = absl::StatusOr<std::unique_ptr<Engine>>;
using EngineOpener = std::function<EngineOr()>;  // one per thread

// An engine for each of several threads. The first is already open, and is the only one if it is
// resident. The others are opened when their thread has work.
class Engines {
 public:
  // `open` opens the same device again; without `open` there is one thread.
  Engines(Engine& first, int threads, EngineOpener open);

  // Called by that thread. nullptr if no engine can be opened: the other threads do the work.
  Engine* of(int thread);

 private:
  Engine& first_;
  absl::Mutex opening_;
  const EngineOpener open_ ABSL_GUARDED_BY(opening_);
  std::vector<std::optional<std::unique_ptr<Engine>>> others_;  // nothing: not tried yet
};

// The engine of a device specification ("auto", "cuda:0", ...); errors as OpenDevice(), or the
// GPU's own.
EngineOr OpenEngine(absl::string_view spec);

}  // namespace mmadiff
