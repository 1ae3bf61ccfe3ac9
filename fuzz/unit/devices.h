// Every kind of device.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/open.h"

namespace mmadiff {

// "auto" first: a GPU if one opens, else host. Then recorded and those of device/open.h.
std::span<const DeviceKind> Devices();

// `warning`: why "auto" is host although a GPU driver exists, or which files in a folder of
// recordings have no answers; else "".
struct OpenedDevice {
  std::unique_ptr<Device> device;
  std::string warning = {};
};
absl::StatusOr<OpenedDevice> OpenAnyDevice(absl::string_view spec);
inline DeviceOr OpenDevice(absl::string_view spec) { return OpenDeviceOf(Devices(), spec); }

// A device's error for callers that use kDataLoss for a file that could not be written: kAborted
// for an answer that cannot be read.
inline absl::Status DeviceError(const absl::Status& s) {
  return absl::IsDataLoss(s) ? absl::AbortedError(s.message()) : s;
}

}  // namespace mmadiff
