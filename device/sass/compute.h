// What an instruction does with the registers of one lane.
#pragma once

#include <cstdint>

#include "device/sass/program.h"

namespace mmadiff::sass {

struct Inputs {
  uint64_t source[4];  // 64 bits where the instruction reads a pair
  bool condition[4];   // already inverted where the text says so
};

struct Outputs {
  uint64_t value;
  bool flag[2];
};

// Arithmetic alone: no memory, no control, no exchange between lanes. False: not understood.
bool Compute(const Instruction& in, const Inputs& x, Outputs& out);

// Whether source number `index` is a pair of registers, and whether the result is.
bool ReadsPair(const Instruction& in, int index);
bool WritesPair(const Instruction& in);

}  // namespace mmadiff::sass
