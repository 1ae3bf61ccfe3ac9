#include "fuzz/devices.h"

#include "absl/strings/strip.h"
#include "corpus/recording.h"
#include "device/open.h"

namespace mmadiff {
namespace {

constexpr DeviceKind kKinds[] = {
    {"auto", "the best device here: this build knows no GPU, so it is host"},
    {"host", "this CPU's own instructions"},
    {"recorded:PATH", "answers recorded earlier: block log, text cases, line protocol (also gzip)"},
    {"faulty:NAME=VALUE", "the simulator with one parameter changed, or a transport fault"},
    {"exec:COMMAND", "an external program that speaks the line protocol on stdin and stdout"},
};

}  // namespace

std::span<const DeviceKind> DeviceKinds() { return kKinds; }

DeviceOr OpenDevice(absl::string_view spec) {
  if (absl::ConsumePrefix(&spec, "recorded:")) return OpenRecorded(std::string(spec));
  return OpenBasicDevice(spec == "auto" ? "host" : spec);
}

}  // namespace mmadiff
