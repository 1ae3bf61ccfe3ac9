// Every kind of device.
#pragma once

#include <span>

#include "absl/strings/string_view.h"
#include "device/open.h"

namespace mmadiff {

// "auto" first: a GPU if one opens, else host. Then recorded and those of device/open.h.
std::span<const DeviceKind> Devices();

inline DeviceOr OpenDevice(absl::string_view spec) { return OpenDeviceOf(Devices(), spec); }

}  // namespace mmadiff
