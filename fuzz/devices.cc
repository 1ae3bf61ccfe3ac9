#include "fuzz/devices.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "corpus/recordings/recorded_device.h"
#include "corpus/recordings/recording.h"
#include "device/cuda/cuda.h"
#include "device/host.h"

namespace mmadiff {
namespace {

constexpr char kBest[] = "auto";

DeviceOr OpenBest(std::string& warning) {
  DeviceOr gpu = OpenCuda("0");
  if (gpu.ok()) return gpu;
  if (!IsNoDriver(gpu.status())) {
    warning = absl::StrCat("no GPU is used, the device is host: ", gpu.status().message());
  }
  return OpenHost();
}

constexpr DeviceKind kKinds[] = {
    {kBest, kBest, "the best device here: cuda:0 if it opens, else host",
     [](absl::string_view) {
       std::string ignored;
       return OpenBest(ignored);
     }},
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

DeviceOr OpenDevice(absl::string_view spec, std::string& warning) {
  return spec == kBest ? OpenBest(warning) : OpenDevice(spec);
}

}  // namespace mmadiff
