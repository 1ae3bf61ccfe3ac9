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

// And why "auto" is host although there is a driver of GPUs, or which files of a folder of recordings
// hold no answers; else "".
struct OpenedDevice {
  std::unique_ptr<Device> device;
  std::string warning = {};
};
absl::StatusOr<OpenedDevice> OpenAnyDevice(absl::string_view spec);
inline DeviceOr OpenDevice(absl::string_view spec) { return OpenDeviceOf(Devices(), spec); }

// A device's error where kDataLoss says that a file could not be written: kAborted for an answer
// that cannot be read.
inline absl::Status DeviceError(const absl::Status& s) {
  return absl::IsDataLoss(s) ? absl::AbortedError(s.message()) : s;
}

}  // namespace mmadiff
