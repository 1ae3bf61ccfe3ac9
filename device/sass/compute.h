// Executes an instruction on the registers of one lane.
#pragma once

#include <cstdint>

#include "device/sass/program.h"

namespace mmadiff::sass {

struct Inputs {
  uint64_t source[4];  // 64 bits if the instruction reads a pair
  bool condition[4];   // inversions in the text are already applied
};

struct Outputs {
  uint64_t value;
  bool flag[2];
};

// Arithmetic only: no memory, no control flow, no exchange between lanes. False: not supported.
bool Compute(const Instruction& in, const Inputs& x, Outputs& out);

// Whether source number `index` is a pair of registers, and whether the result is.
bool ReadsPair(const Instruction& in, int index);
bool WritesPair(const Instruction& in);

}  // namespace mmadiff::sass
