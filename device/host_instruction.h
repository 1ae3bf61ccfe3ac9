// The instructions of the CPU that this binary runs on, as a table. The build picks the source file
// of the table by CPU architecture: host_x86.cc, or host_none.cc where there is none.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "device/identity.h"
#include "device/mode.h"
#include "sim/batch.h"

namespace mmadiff {

struct HostInstruction {
  const char* name;     // of sim/instruction.h
  const char* feature;  // what CPUID calls it
  bool (*supported)();  // by this CPU and its operating system
  // Writes batch.dot_products() words to `d`; requires supported(). The batch has the instruction's
  // own shape (an execution is then one of the hardware) or that of a dot product. Where m = n = 1
  // both are the same words, those of one dot product after the other.
  void (*run)(const Batch& batch, uint64_t* d);
};

std::span<const HostInstruction> HostInstructions();

// The register that floating-point arithmetic of the calling thread may read (x86: MXCSR), and what
// can be changed in it. Run functions leave it as it is.
uint32_t FloatingPointControl();
void SetFloatingPointControl(uint32_t bits);
// Round to nearest even, subnormals kept, all exceptions masked.
uint32_t DefaultFloatingPointControl();
std::span<const Mode> HostModes();

// "Intel(R) Xeon(R) ..., family 6 model 143 stepping 8, microcode 0x2b000590".
Identity HostIdentity();

}  // namespace mmadiff
