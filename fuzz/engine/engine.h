// What runs units of cases on a device: makes them, has them executed, simulates, compares, counts
// and digests. On the host, or on a GPU that does all of that by itself (fuzz/gpu/resident.h);
// bits, counts and digests are the same.
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

// What a unit is for; it decides how large one is.
enum class UnitOf { kRun, kEndlessRun, kRecording };
// Dot products of the largest unit of a recording, whatever made it.
inline constexpr uint64_t kMaxRecordedDotProducts = 1 << 24;

// One object serves one thread.
class Engine {
 public:
  virtual ~Engine() = default;
  Device& device() const { return *device_; }

  // As UnitRunner::Run(); of a slow device (Device::IsSlow) with a pace.
  virtual absl::StatusOr<uint64_t> Run(const CaseStream& stream, uint64_t first, uint64_t count,
                                       UnitResult& result, OnMismatch found);
  // The digest of what the device answers to these cases.
  virtual absl::StatusOr<Digest> AnswerDigest(const CaseStream& stream, uint64_t first,
                                              uint64_t count);
  // Of a slow device, else nullptr.
  Pace* PaceOf(const Operation& op) { return device().IsSlow() ? &paces_[&op] : nullptr; }
  // What an operation must pass before its answers are used: one answer, with which its layout is
  // confirmed, given twice alike (else kDataLoss), and the self-test of an engine that has one.
  virtual absl::Status Try(const CaseStream& stream);

  // Whether units stay on the device: they are larger, and one thread is enough.
  virtual bool resident() const { return false; }
  // Executions of a unit, at least one: a fraction of a second, of a slow device a few answers.
  virtual uint64_t UnitCases(const CaseStream& stream, UnitOf purpose) const;
  // Why it is slower than it could be, or "auto" no GPU; empty if all is well. Every verb prints
  // it.
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

// Has a device execute cases that the host makes and compares.
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

// An engine for each of several threads. The first is there, and the only one if it is resident;
// the others are opened when their thread has work.
class Engines {
 public:
  // `open` opens the same device again; without it there is one thread.
  Engines(Engine& first, int threads, EngineOpener open);

  // Called by that thread. nullptr where no other can be opened: the work is for the others.
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
