#include "fuzz/devices.h"

#include <string>
#include <vector>

#include "corpus/recordings/recorded_device.h"
#include "corpus/recordings/recording.h"
#include "device/cuda/cuda.h"
#include "device/host.h"

namespace mmadiff {
namespace {

DeviceOr OpenBest(absl::string_view) {
  DeviceOr gpu = OpenCuda("0");
  return gpu.ok() ? std::move(gpu) : OpenHost();
}

constexpr DeviceKind kKinds[] = {
    {"auto", "auto", "the best device here: cuda:0 if it opens, else host", OpenBest},
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

}  // namespace mmadiff
