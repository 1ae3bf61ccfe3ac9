// `cuda:N`: the matrix instructions of an NVIDIA GPU, through the driver alone.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/cuda/driver.h"
#include "device/cuda/kernel.h"
#include "device/cuda/kernel_images.h"
#include "device/gpu/gpu_device.h"

namespace mmadiff {

// "N": GPU number N, in decimal. "N" + SuffixOf(variant): instructions that offer the choice get
// their operands as in the variant (device/cuda/variant.h), as in "0,a=registers" or
// "0,layout=col.row,c=col". kNotFound without a driver or without that GPU.
absl::StatusOr<std::unique_ptr<GpuDevice>> OpenCuda(absl::string_view argument);

// The same with different machine code than this build's. It is used if the driver is not older
// than the toolkit that made it, for the instructions that it contains (IsBuiltEntry()); for all
// others the driver assembles PTX text.
absl::StatusOr<std::unique_ptr<GpuDevice>> OpenCudaWith(absl::string_view argument,
                                                        KernelImages images);

}  // namespace mmadiff
