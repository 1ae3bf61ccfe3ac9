#include "fuzz/devices.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/recordings/recorded_device.h"
#include "corpus/recordings/recording.h"
#include "device/cuda/cuda.h"
#include "device/cuda/driver.h"

namespace mmadiff {
namespace {

constexpr absl::string_view kBest = "auto", kCuda = "cuda:";

// A device that is no CudaDevice; of a GPU a warning takes the place of `warning`.
OpenedDevice WithoutResident(std::unique_ptr<Device> device, std::string warning) {
  if (dynamic_cast<const GpuDevice*>(device.get()) != nullptr) {
    warning = "there are no resident kernels for AMD: cases are made and compared on the host";
  }
  return {nullptr, std::move(device), std::move(warning)};
}

DeviceOr OpenBest(absl::string_view) {
  absl::StatusOr<OpenedDevice> best = OpenAnyDevice(kBest);
  if (!best.ok()) return best.status();
  if (best->gpu != nullptr) return std::move(best->gpu);
  return std::move(best->other);
}

constexpr DeviceKind kKinds[] = {
    {"auto", "auto", "the best device here: cuda:0 or hip:0 if one opens, else host", OpenBest},
    {"recorded", "recorded:PATH",
     "answers recorded earlier: folder, block log, text cases, line protocol (plain or gzip)",
     [](absl::string_view path) { return OpenRecorded(std::string(path)); }},
};

}  // namespace

std::span<const DeviceKind> Devices() {
  static const std::vector<DeviceKind>& all = *new std::vector<DeviceKind>([] {
    std::vector<DeviceKind> kinds(std::begin(kKinds), std::end(kKinds));
    kinds.insert(kinds.end(), BasicDevices().begin(), BasicDevices().end());
    return kinds;
  }());
  return all;
}

absl::StatusOr<OpenedDevice> OpenAnyDevice(absl::string_view spec) {
  const bool best = spec == kBest;
  std::string warning;
  if (best || absl::StartsWith(spec, kCuda)) {
    auto gpu = OpenCuda(best ? "0" : spec.substr(kCuda.size()));
    if (gpu.ok()) return OpenedDevice{*std::move(gpu), nullptr};
    if (!best) return gpu.status();
    DeviceOr amd = OpenDevice("hip:0");
    if (amd.ok()) return WithoutResident(*std::move(amd), "");
    for (const absl::Status& s : {gpu.status(), amd.status()}) {
      if (IsNoLibrary(s)) continue;
      absl::StrAppend(&warning, warning.empty() ? "no GPU is used, the device is host: " : "; ",
                      s.message());
    }
    spec = "host";
  }
  DeviceOr device = OpenDevice(spec);
  if (!device.ok()) return device.status();
  return WithoutResident(*std::move(device), std::move(warning));
}

}  // namespace mmadiff
