// Every kind of device.
#pragma once

#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "device/open.h"

namespace mmadiff {

// "auto" first: a GPU if one opens, else host. Then recorded and those of device/open.h.
std::span<const DeviceKind> Devices();

// `warning`: why "auto" is host although there is a driver of GPUs; else as it was.
DeviceOr OpenDevice(absl::string_view spec, std::string& warning);
inline DeviceOr OpenDevice(absl::string_view spec) { return OpenDeviceOf(Devices(), spec); }

// A device's error where kDataLoss says that a file could not be written: kAborted for an answer
// that cannot be read.
inline absl::Status DeviceError(const absl::Status& s) {
  return absl::IsDataLoss(s) ? absl::AbortedError(s.message()) : s;
}

}  // namespace mmadiff
