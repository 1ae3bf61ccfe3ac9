#include "fuzz/bench/kernels.h"

#include <map>
#include <string>

#include "device/status_macros.h"
#include "fuzz/gpu/gpu_counter.h"
#include "fuzz/gpu/resident_image.h"

namespace mmadiff {
namespace {

// Cases per launch. A launch that is too short is repeated with kTimes the cases.
constexpr int64_t kMinLaunch = 256, kTimes = 4, kMaxLaunch = 4 << 20;

// Seconds by kernel.
absl::StatusOr<std::map<std::string, double>> SecondsOf(GpuCounter& counter,
                                                        const CaseStream& stream, int64_t cases) {
  std::map<std::string, double> seconds;
  Counted counted;
  counter.set_seconds(&seconds);
  const absl::Status s =
      counter.Count(stream, stream.op->model, 0, cases, GpuCounter::kMaxCases, counted);
  counter.set_seconds(nullptr);
  RETURN_IF_ERROR(s);
  return seconds;
}

}  // namespace

absl::StatusOr<std::optional<KernelCosts>> BenchKernels(Device& device, const CaseStream& stream,
                                                        absl::Duration part) {
  auto* const gpu = dynamic_cast<GpuDevice*>(&device);
  if (gpu == nullptr || !GpuCounter::Supports(stream)) return std::nullopt;
  const auto counter = GpuCounter::Create(*gpu, ResidentImage(gpu->target()));
  if (absl::IsFailedPrecondition(counter.status()))
    return std::nullopt;  // no kernels in this build
  RETURN_IF_ERROR(counter.status());
  // The first launch sets up memory, modules and the layout.
  auto seconds = SecondsOf(**counter, stream, kMinLaunch);
  for (int64_t cases = kMinLaunch; seconds.ok(); cases *= kTimes) {
    seconds = SecondsOf(**counter, stream, cases);
    if (!seconds.ok()) break;
    const double dot_products = static_cast<double>(cases * stream.op->shape().d_words());
    const auto of = [&](const char* kernel) { return (*seconds)[kernel] * 1e9 / dot_products; };
    const KernelCosts costs = {of("generate"), of("fill"), of("instruction"),
                               of(ResidentKernels(stream.op->model)[1]), of("trace")};
    if (costs.all() * dot_products >= absl::ToDoubleNanoseconds(part) || cases == kMaxLaunch) {
      return costs;
    }
  }
  return seconds.status();
}

}  // namespace mmadiff
