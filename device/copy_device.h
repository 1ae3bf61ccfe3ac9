// Anything that executes tensor copies: the simulator, with or without a fault, or a GPU.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/copy/tensor_copy.h"

namespace mmadiff {

class CopyDevice {
 public:
  virtual ~CopyDevice() = default;

  // The specification that opens this device again.
  virtual std::string name() const = 0;
  // Executes a legal copy on the given memory. The result covers the bytes of Execute() (sim/copy/tensor_copy.h). Errors as those of Device::Run() (device/device.h).
  virtual absl::Status Run(const TensorCopy& copy, const CopyMemory& memory,
                           CopyResult& result) = 0;
};
using CopyDeviceOr = absl::StatusOr<std::unique_ptr<CopyDevice>>;

// `faulty:NAME=VALUE`: the model with one choice changed (sim/copy/copy_parameter.h); `faulty:none=0`: the
// model. kInvalidArgument lists the changes; kNotFound for other devices, none of which copies yet.
CopyDeviceOr OpenCopyDevice(absl::string_view specification);

}  // namespace mmadiff
