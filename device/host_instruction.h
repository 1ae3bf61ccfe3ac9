// A table of the instructions of the CPU that this binary runs on. The build picks its source file
// by CPU architecture: host_x86.cc, or host_none.cc for architectures without a table.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "device/identity.h"
#include "device/mode.h"
#include "sim/batch.h"

namespace mmadiff {

struct HostInstruction {
  const char* name;     // as in sim/instruction.h
  const char* feature;  // its name in CPUID
  bool (*supported)();  // by this CPU and its operating system
  // Writes batch.dot_products() words to `d`; requires supported(). The batch has the instruction's
  // own shape (an execution is then one of the hardware) or that of a dot product. If m = n = 1
  // both shapes have the same words, one dot product after the other.
  void (*run)(const Batch& batch, uint64_t* d);
};

std::span<const HostInstruction> HostInstructions();

// The register that the calling thread's floating-point arithmetic may read (x86: MXCSR), and the
// modes in it that can be changed. Run functions do not change it.
uint32_t FloatingPointControl();
void SetFloatingPointControl(uint32_t bits);
// Round to nearest even, subnormals kept, all exceptions masked.
uint32_t DefaultFloatingPointControl();
std::span<const Mode> HostModes();

// "Intel(R) Xeon(R) ..., family 6 model 143 stepping 8, microcode 0x2b000590".
Identity HostIdentity();

}  // namespace mmadiff
