#include "fuzz/engine/engine.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "device/gpu/gpu_device.h"
#include "device/status_macros.h"
#include "fuzz/gpu/resident.h"
#include "fuzz/gpu/resident_image.h"
#include "fuzz/unit/devices.h"

namespace mmadiff {
namespace {

constexpr uint64_t kUnitDotProducts = 1 << 18;     // a fraction of a second
constexpr uint64_t kEndlessDotProducts = 1 << 22;  // run without an end: about 5 MB of log per hour
constexpr uint64_t kGpuDotProducts = 1 << 28;      // about 0.03 seconds on a GPU
constexpr uint64_t kSlowDotProducts = 1 << 12;     // for devices that may take seconds for each

uint64_t CasesOf(uint64_t dot_products, const CaseStream& stream) {
  return std::max<uint64_t>(1, dot_products / stream.op->shape().d_words());
}

// Cases that have kernels stay on the GPU; others are generated and compared on the host.
class GpuEngine : public Engine {
 public:
  GpuEngine(std::unique_ptr<Device> device, std::unique_ptr<ResidentRunner> runner)
      : Engine(std::move(device)), runner_(std::move(runner)) {}

  absl::StatusOr<uint64_t> Run(const CaseStream& stream, uint64_t first, uint64_t count,
                               UnitResult& result, OnMismatch found) override {
    return ResidentRunner::Supports(stream) ? runner_->Run(stream, first, count, result, found)
                                            : Engine::Run(stream, first, count, result, found);
  }
  absl::StatusOr<Digest> AnswerDigest(const CaseStream& stream, uint64_t first,
                                      uint64_t count) override {
    return ResidentRunner::Supports(stream) ? runner_->AnswerDigest(stream, first, count)
                                            : Engine::AnswerDigest(stream, first, count);
  }
  absl::Status Try(const CaseStream& stream) override {
    RETURN_IF_ERROR(Engine::Try(stream));
    if (!ResidentRunner::Supports(stream)) return absl::OkStatus();
    return runner_->AnswerDigest(stream, 0, 1).status();
  }
  bool resident() const override { return true; }
  uint64_t UnitCases(const CaseStream& stream, UnitOf purpose) const override {
    if (!ResidentRunner::Supports(stream)) return Engine::UnitCases(stream, purpose);
    return CasesOf(purpose == UnitOf::kRecording ? kMaxRecordedDotProducts : kGpuDotProducts,
                   stream);
  }

 private:
  std::unique_ptr<ResidentRunner> runner_;
};

EngineOr EngineOf(std::unique_ptr<Device> device, GpuDevice& gpu) {
  auto runner = ResidentRunner::Create(gpu, ResidentImage(gpu.target()));
  if (runner.ok()) return std::make_unique<GpuEngine>(std::move(device), *std::move(runner));
  if (!absl::IsFailedPrecondition(runner.status())) return runner.status();
  return std::make_unique<HostEngine>(std::move(device), std::string(runner.status().message()));
}

}  // namespace

absl::StatusOr<uint64_t> Engine::Run(const CaseStream& stream, uint64_t first, uint64_t count,
                                     UnitResult& result, OnMismatch found) {
  return UnitRunner(device(), stream, PaceOf(*stream.op)).Run(first, count, result, found);
}

absl::StatusOr<Digest> Engine::AnswerDigest(const CaseStream& stream, uint64_t first,
                                            uint64_t count) {
  return mmadiff::AnswerDigest(stream, first, count, &device());
}

absl::Status Engine::Try(const CaseStream& stream) {
  Batch batch;
  Generate(stream, 0, 1, batch);
  std::vector<uint64_t> answers[2];
  for (std::vector<uint64_t>& d : answers) {
    RETURN_IF_ERROR(device().Run(*stream.op, batch, d));
  }
  if (Differences(*stream.op, answers[0], answers[1]).empty()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(FormatCaseName({stream, 0}), " has two answers: ",
                                          device().name(), " does not repeat its answers"));
}

uint64_t Engine::UnitCases(const CaseStream& stream, UnitOf purpose) const {
  if (purpose == UnitOf::kRecording) return CasesOf(kUnitDotProducts, stream);
  if (device().IsSlow()) return CasesOf(kSlowDotProducts, stream);
  return CasesOf(purpose == UnitOf::kRun ? kUnitDotProducts : kEndlessDotProducts, stream);
}

Engines::Engines(Engine& first, int threads, EngineOpener open)
    : first_(first),
      open_(std::move(open)),
      others_(open_ == nullptr || first.resident() ? 0 : std::max(threads, 1) - 1) {}

Engine* Engines::of(int thread) {
  if (thread == 0) return &first_;
  if (thread > std::ssize(others_)) return nullptr;
  std::optional<std::unique_ptr<Engine>>& own = others_[thread - 1];
  if (!own.has_value()) {
    absl::MutexLock lock(&opening_);
    EngineOr opened = open_();
    own = opened.ok() ? *std::move(opened) : nullptr;
  }
  return own->get();
}

EngineOr OpenEngine(absl::string_view spec) {
  ASSIGN_OR_RETURN(OpenedDevice opened, OpenAnyDevice(spec));
  auto* const gpu = dynamic_cast<GpuDevice*>(opened.device.get());
  if (gpu != nullptr) return EngineOf(std::move(opened.device), *gpu);
  return std::make_unique<HostEngine>(std::move(opened.device), std::move(opened.warning));
}

}  // namespace mmadiff
