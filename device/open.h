// Devices by name, as far as they need nothing but sim/ and this machine.
#pragma once

#include "absl/strings/string_view.h"
#include "device/device.h"

namespace mmadiff {

// "host", "faulty:NAME=VALUE", "exec:COMMAND". Anything else is kInvalidArgument with the nearest
// kind and the list.
DeviceOr OpenBasicDevice(absl::string_view spec);

}  // namespace mmadiff
