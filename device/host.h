// Device `host`: the matrix-multiply instructions of the CPU that this program runs on.
#pragma once

#include "device/device.h"

namespace mmadiff {

// Never fails. For an instruction that the CPU lacks, Supports() returns kNotFound with the CPUID
// feature; nothing is emulated.
DeviceOr OpenHost();

}  // namespace mmadiff
