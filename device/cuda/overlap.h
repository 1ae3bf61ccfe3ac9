// Registers that an mma or wmma instruction uses twice, for an operand and for its result
// (Variant::overlap).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/instruction.h"

namespace mmadiff {

// Whether operands are in registers that the kernel may choose freely: mma and wmma.
bool HasFragments(const Instruction& instruction);

// "c", "c_reversed", ...
std::span<const absl::string_view> NamedOverlaps();

// Whether the text is a list or a name, whatever the instruction.
bool IsOverlap(absl::string_view text);

// The number of registers of each operand in the PTX vector, 64 bits each if it has f64 elements.
struct RegisterCounts {
  int a, b, c, d;
};

// OK if the instruction with these registers can have the overlap: no register of D is that of two
// operands, and all registers exist. kNotFound with the reason.
absl::Status CheckOverlap(absl::string_view overlap, const RegisterCounts& counts);

// The overlaps of single registers that it consists of: "c" is c0d0, c1d1, ... CheckOverlap() must be
// OK.
std::vector<std::string> SingleOverlaps(absl::string_view overlap, const RegisterCounts& counts);

// How the registers are named in PTX: those of an operand NAME are %NAME0, %NAME1, ..., with a step of
// `step` between the numbers.
struct AssignedRegisters {
  std::string a, b, c, d;  // vectors: "{%a0, %d2}"
  std::string moves;       // PTX that copies operands into their registers of D
};
// CheckOverlap() must be OK. `prefix`: before a, b, c and d in the names; `bits` of each register.
AssignedRegisters AssignRegisters(absl::string_view overlap, const RegisterCounts& counts,
                                  absl::string_view prefix, int step, int bits);

}  // namespace mmadiff
