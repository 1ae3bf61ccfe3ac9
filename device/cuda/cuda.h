// `cuda:N`: the mma and wgmma instructions of an NVIDIA GPU, through the driver alone.
#pragma once

#include "absl/strings/string_view.h"
#include "device/device.h"

namespace mmadiff {

// "N": GPU number N, in decimal. "N,a=registers": A of the instructions that have the choice
// (wgmma) is read from registers, not from shared memory. kNotFound without a driver or without
// that GPU.
DeviceOr OpenCuda(absl::string_view argument);

}  // namespace mmadiff
