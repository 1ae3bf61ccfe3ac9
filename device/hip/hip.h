// `hip:N`: the matrix instructions of an AMD GPU, through the HIP run time alone.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/gpu/gpu_device.h"
#include "device/hip/kernel_images.h"

namespace mmadiff {

// "N": GPU number N, in decimal. "N,NAME=VALUE..." changes bits of the register MODE that every
// kernel starts with (HipModes()), as in "0,denorm=flush,round=zero". kNotFound without HIP,
// without that GPU, or if no kernels exist for it.
absl::StatusOr<std::unique_ptr<GpuDevice>> OpenHip(absl::string_view argument);

// The same with different machine code than this build's. If that has none for the GPU, the code
// object manager assembles the kernels (device/hip/comgr.h).
absl::StatusOr<std::unique_ptr<GpuDevice>> OpenHipWith(absl::string_view argument,
                                                       HipImages images);

}  // namespace mmadiff
