// Kernels of tcgen05.mma.
#pragma once

#include <cstdint>
#include <string>

#include "device/cuda/kernel.h"

namespace mmadiff {

// The PTX text between the braces of an entry, without the final "ret".
std::string Tcgen05Body(const Instruction& instruction, SourceOfA source);

// The run-time instruction descriptor of a dense tcgen05.mma with K-major A and B (PTX ISA 9.0,
// 9.7.16.4.2; CUTLASS, InstrDescriptor and InstrDescriptorBlockScaled): types, m, n, saturation.
uint32_t Tcgen05Descriptor(const Instruction& instruction);

}  // namespace mmadiff
