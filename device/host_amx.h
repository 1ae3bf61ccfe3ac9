// Intel AMX: the tile instructions of the table in host_x86.cc.
#pragma once

#include <cstdint>

#include "sim/batch.h"

namespace mmadiff {

// Whether the CPU and the operating system support it and this process may use it: the first call
// requests the tile registers from Linux. The permission lasts for the process and its children.
bool HasAmxBf16();
bool HasAmxInt8();

// HostInstruction::run. The results of a dot product are the same in either shape.
void RunTdpbf16ps(const Batch& batch, uint64_t* d);
void RunTdpbssd(const Batch& batch, uint64_t* d);
void RunTdpbsud(const Batch& batch, uint64_t* d);
void RunTdpbusd(const Batch& batch, uint64_t* d);
void RunTdpbuud(const Batch& batch, uint64_t* d);

}  // namespace mmadiff
