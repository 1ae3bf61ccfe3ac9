#include "device/open.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "device/cuda/any_variant.h"
#include "device/cuda/cuda.h"
#include "device/cuda/overlap.h"
#include "device/exec.h"
#include "device/faulty.h"
#include "device/hip/hip.h"
#include "device/host.h"
#include "device/sass/sass_device.h"
#include "device/stop.h"

namespace mmadiff {
namespace {

// The timeout is the time without a byte from the command: RTL simulators are slow.
template <DeviceOr (*Open)(absl::string_view, absl::Duration)>
DeviceOr OpenWithTimeout(absl::string_view argument) {
  const absl::StatusOr<absl::Duration> timeout = TimeoutOf("MMADIFF_EXEC_TIMEOUT");
  return timeout.ok() ? Open(argument, *timeout) : timeout.status();
}

DeviceOr OpenCudaVariants(absl::string_view argument) {
  AnyVariants any = AnyVariantsOf(argument, NamedOverlaps());
  if (any.any.empty()) return OpenCuda(argument);
  return OpenAnyVariant(absl::StrCat("cuda:", argument), std::move(any),
                        [](absl::string_view one) -> DeviceOr { return OpenCuda(one); });
}

DeviceOr OpenMachineCode(absl::string_view argument) {
  if (!argument.empty()) return OpenSass(argument);
  return absl::InvalidArgumentError(
      "device 'sass:': write sass:arch=TARGET, for example sass:arch=sm_90a, or sass:FILE.cubin");
}

constexpr DeviceKind kKinds[] = {
    {"host", "host", "this CPU's own instructions", [](absl::string_view) { return OpenHost(); }},
    {"cuda", "cuda:N", "NVIDIA GPU number N: its mma, wmma, wgmma, tcgen05 and fma instructions",
     OpenCudaVariants, true},
    {"hip", "hip:N", "AMD GPU number N: its v_mfma, v_smfmac, v_wmma and v_swmmac instructions",
     [](absl::string_view argument) -> DeviceOr { return OpenHip(argument); }, true},
    {"sass", "sass:arch=TARGET",
     "machine code that ptxas makes for an NVIDIA GPU, executed on this CPU; also sass:FILE.cubin",
     OpenMachineCode},
    {"faulty", "faulty:NAME=VALUE",
     "the simulator with one parameter changed, or with lost, late or swapped answers; `mmadiff "
     "help devices` lists the names",
     OpenFaulty},
    {"exec", "exec:COMMAND",
     "an external program that speaks the line protocol on stdin and stdout",
     OpenWithTimeout<OpenExec>},
    {"fd", "fd:IN,OUT", "a peer that speaks the line protocol over two open file descriptors",
     OpenWithTimeout<OpenDescriptors>},
};

}  // namespace

std::span<const DeviceKind> BasicDevices() { return kKinds; }

DeviceOr OpenDeviceOf(std::span<const DeviceKind> kinds, absl::string_view spec) {
  const size_t colon = spec.find(':');
  const absl::string_view name = spec.substr(0, colon);
  std::vector<std::string> names;
  for (const DeviceKind& kind : kinds) {
    names.push_back(kind.name);
    if (name != kind.name) continue;
    const bool takes_argument = absl::string_view(kind.usage) != kind.name;
    if (takes_argument == (colon == spec.npos)) {
      return absl::InvalidArgumentError(absl::StrCat("device '", spec, "': write ", kind.usage));
    }
    return kind.open(takes_argument ? spec.substr(colon + 1) : "");
  }
  const std::string_view wanted(name.data(), name.size());
  const std::string usages = absl::StrJoin(
      kinds, ", ",
      [](std::string* out, const DeviceKind& kind) { absl::StrAppend(out, kind.usage); });
  return absl::InvalidArgumentError(absl::StrCat("no device '", spec, "'",
                                                 NearestText("; nearest: ", wanted, names, 1),
                                                 "; devices: ", usages));
}

}  // namespace mmadiff
