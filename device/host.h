// Device `host`: the matrix-multiply instructions of the CPU that this program runs on.
#pragma once

#include "device/device.h"

namespace mmadiff {

// Never fails. What the CPU lacks is kNotFound from Supports(), naming the CPUID feature; nothing
// is emulated.
DeviceOr OpenHost();

}  // namespace mmadiff
