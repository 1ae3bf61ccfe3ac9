// Registers that an mma or wmma instruction uses twice, for an operand and for its result or for two
// operands (Variant::overlap).
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

// Names of overlaps with D: "c", "c_reversed", ...
std::span<const absl::string_view> NamedOverlaps();
// Names of overlaps of operands with each other, which change the operands: "a_broadcast", ...
std::span<const absl::string_view> NamedSharing();

// Whether the text is a list of names and single overlaps ("c3d2", "c1c0"), whatever the instruction.
bool IsOverlap(absl::string_view text);
// Whether operands share registers with each other in it.
bool SharesOperands(absl::string_view overlap);

// The number of registers of each operand in the PTX vector, 64 bits each if it has f64 elements.
struct RegisterCounts {
  int a, b, c, d;
};

// OK if the instruction with these registers can have the overlap: all exist, no operand's register is
// in two places, and no register of D is listed twice. kNotFound with the reason.
absl::Status CheckOverlap(absl::string_view overlap, const RegisterCounts& counts);

// The single overlaps that it consists of: "c" is c0d0, c1d1, ... CheckOverlap() must be OK.
std::vector<std::string> SingleOverlaps(absl::string_view overlap, const RegisterCounts& counts);
// For each register that is a different one by several overlaps, these overlaps: "c1c0+c0d0".
std::vector<std::string> ChainedOverlaps(absl::string_view overlap, const RegisterCounts& counts);

// How the registers are named in PTX: those of an operand NAME are %NAME0, %NAME1, ..., with a step of
// `step` between the numbers.
struct AssignedRegisters {
  std::string a, b, c, d;  // vectors: "{%a0, %d2}"
  std::string operand_c;   // C before the moves: "{%c0, %c1}"
  std::string moves;       // PTX that copies operands into their registers of D
};
// CheckOverlap() must be OK. `prefix`: before a, b, c and d in the names; `bits` of each register.
AssignedRegisters AssignRegisters(absl::string_view overlap, const RegisterCounts& counts,
                                  absl::string_view prefix, int step, int bits);
// Each operand and D in registers of its own, although operands share them in `overlap`: the moves copy
// those that have another's value, under a predicate that always holds at run time.
AssignedRegisters CopiedRegisters(absl::string_view overlap, const RegisterCounts& counts,
                                  absl::string_view prefix, int step, int bits);

}  // namespace mmadiff
