#include "fuzz/devices.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/recordings/recorded_device.h"
#include "corpus/recordings/recording.h"
#include "device/cuda/cuda.h"
#include "device/cuda/driver.h"
#include "device/hip/hip.h"

namespace mmadiff {
namespace {

constexpr absl::string_view kBest = "auto", kCuda = "cuda:", kHip = "hip:";

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
    auto amd = OpenHip("0");
    if (amd.ok()) return OpenedDevice{*std::move(amd), nullptr};
    for (const absl::Status& s : {gpu.status(), amd.status()}) {
      if (IsNoLibrary(s)) continue;
      absl::StrAppend(&warning, warning.empty() ? "no GPU is used, the device is host: " : "; ",
                      s.message());
    }
    spec = "host";
  } else if (absl::StartsWith(spec, kHip)) {
    auto gpu = OpenHip(spec.substr(kHip.size()));
    if (!gpu.ok()) return gpu.status();
    return OpenedDevice{*std::move(gpu), nullptr};
  }
  DeviceOr device = OpenDevice(spec);
  if (!device.ok()) return device.status();
  return OpenedDevice{nullptr, *std::move(device), std::move(warning)};
}

}  // namespace mmadiff
