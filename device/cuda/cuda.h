// `cuda:N`: the mma instructions of an NVIDIA GPU, through the driver alone.
#pragma once

#include "absl/strings/string_view.h"
#include "device/device.h"

namespace mmadiff {

// GPU number `index`, in decimal. kNotFound without a driver or without that GPU.
DeviceOr OpenCuda(absl::string_view index);

}  // namespace mmadiff
