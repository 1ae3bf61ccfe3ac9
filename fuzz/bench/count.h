// Counts the instructions that a piece of the program executes, and measures the best speed of
// vector instructions on this machine: together a lower bound of the time of that code with these
// instructions.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"

namespace mmadiff {

struct InstructionCount {
  int64_t all = 0;
  int64_t vector = 0;  // vector arithmetic of AVX and later; neither moves nor mask instructions
};

// Runs `piece` in its own process, one instruction at a time (ptrace): microseconds each. nullopt
// if that is impossible (not Linux on x86-64, or forbidden), if `piece` did not end within `most`
// instructions, or if `stop` returned true.
std::optional<InstructionCount> CountInstructions(absl::FunctionRef<void()> piece, int64_t most,
                                                  absl::FunctionRef<bool()> stop);

// Vector additions of 64 or 32 bytes that one core executes per nanosecond: the maximum of several
// rounds. Additions are the fastest vector arithmetic. 0 if the CPU has no such vectors.
double VectorAddsPerNanosecond(int bytes);

}  // namespace mmadiff
