// The instructions of the CPU that this binary runs on, as a table. The build picks the source file
// of the table by CPU architecture: host_x86.cc, or host_none.cc where there is none.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace mmadiff {

// All these instructions have m = n = 1, so that the words of a batch are those of its dot
// products, one after the other, in either shape.
struct HostInstruction {
  const char* name;     // of sim/instruction.h
  const char* feature;  // what CPUID calls it
  bool (*supported)();  // by this CPU and its operating system
  // Executes `dots` dot products. `a` and `b` hold k words each, `c` and `d` one.
  void (*run)(const uint64_t* a, const uint64_t* b, const uint64_t* c, int64_t dots, uint64_t* d);
};

std::span<const HostInstruction> HostInstructions();

// "Intel(R) Xeon(R) ..., family 6 model 143 stepping 8, microcode 0x2b000590".
std::string HostIdentity();

}  // namespace mmadiff
