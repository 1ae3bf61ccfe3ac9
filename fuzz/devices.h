// Every kind of device, by the prefix of its specification.
#pragma once

#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "device/device.h"

namespace mmadiff {

struct DeviceKind {
  const char* usage;  // "faulty:NAME=VALUE"
  const char* what;
};

std::span<const DeviceKind> DeviceKinds();

// "auto" is a GPU if one opens, else "host".
DeviceOr OpenDevice(absl::string_view spec);

}  // namespace mmadiff
