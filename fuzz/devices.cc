#include "fuzz/devices.h"

#include <string>
#include <vector>

#include "corpus/recording.h"
#include "device/host.h"

namespace mmadiff {
namespace {

constexpr DeviceKind kKinds[] = {
    {"auto", "auto", "the best device here: this build knows no GPU, so it is host",
     [](absl::string_view) { return OpenHost(); }},
    {"recorded", "recorded:PATH",
     "answers recorded earlier: block log, text cases, line protocol (also gzip)",
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
