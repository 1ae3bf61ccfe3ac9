// How many instructions a piece of the program executes, and how fast this machine executes vector
// instructions at best: what no version of that code with these instructions can be faster than.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"

namespace mmadiff {

struct InstructionCount {
  int64_t all = 0;
  int64_t vector = 0;  // that compute with vectors, of AVX and later; not moves, nor those on masks
};

// Runs `piece` in a process of its own, one instruction after the other (ptrace): microseconds each.
// Nothing where that is not possible: not on Linux on x86-64, or forbidden, or `piece` did not end
// within `most` instructions or before `stop` said so.
std::optional<InstructionCount> CountInstructions(absl::FunctionRef<void()> piece, int64_t most,
                                                  absl::FunctionRef<bool()> stop);

// Additions of vectors that one core executes in a nanosecond, of 64 or 32 bytes: the most of several
// rounds. Additions are the fastest of what computes. 0 if the CPU has no such vectors.
double VectorAddsPerNanosecond(int bytes);

}  // namespace mmadiff
