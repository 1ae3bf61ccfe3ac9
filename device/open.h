// Opens devices by their specification.
#pragma once

#include <span>

#include "absl/strings/string_view.h"
#include "device/device.h"

namespace mmadiff {

struct DeviceKind {
  const char* name;   // before the first colon
  const char* usage;  // the whole specification; a kind without ':' in it takes no argument
  const char* what;   // for `mmadiff list devices`
  DeviceOr (*open)(absl::string_view argument);
  // A GpuDevice (device/gpu/gpu_device.h); the argument begins with its number, from 0 on.
  bool is_gpu = false;
};

// All but `auto` and `recorded`, which fuzz/unit/devices.h adds.
std::span<const DeviceKind> BasicDevices();

// Opens "NAME" or "NAME:ARGUMENT" with one of the kinds. kInvalidArgument for an unknown name, with
// the nearest and the list, or for an argument that is missing or not allowed.
DeviceOr OpenDeviceOf(std::span<const DeviceKind> kinds, absl::string_view spec);

inline DeviceOr OpenBasicDevice(absl::string_view spec) {
  return OpenDeviceOf(BasicDevices(), spec);
}

}  // namespace mmadiff
