// Loads, stores and atomics of a warp.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "device/sass/lanes.h"
#include "device/sass/program.h"

namespace mmadiff::sass {

// Adds to the counts of the block. kInternal: an address outside memory.
// Bytes that each lane loads or stores.
int AccessedBytes(const Instruction& in);

absl::Status AccessMemory(const Instruction& in, uint32_t lanes, Lanes& warp);

}  // namespace mmadiff::sass
