// Floating-point instructions on the registers of one lane, fused multiply-adds apart (natives.h).
// NaN results are those of the hardware in the recordings of H100s and H200s: 0x7fffffff for f32,
// 0x7fff for f16.
#pragma once

#include "device/sass/compute.h"

namespace mmadiff::sass {

// False: not supported.
bool ComputeFloat(const Instruction& in, const Inputs& x, Outputs& out);

}  // namespace mmadiff::sass
