// PTX text of kernels made from the instruction table: registers in by lane, one matrix
// instruction, registers out. No layout and no numbers are known here.
#pragma once

#include <span>
#include <string>

#include "sim/instruction.h"

namespace mmadiff {

struct PtxTarget {
  int major, minor;     // compute capability
  const char* arch;     // of the tables
  const char* target;   // as ptxas names it
  const char* version;  // least PTX version that knows the target and its mma instructions
};
std::span<const PtxTarget> PtxTargets();

// 32-bit registers of one lane for each operand of an mma instruction.
struct MmaRegisters {
  int a, b, c, d;
};

// Of an instruction named "mma.*".
MmaRegisters RegistersOf(const Instruction& instruction);

// A kernel named "mma". Its parameters are the addresses of the registers of all lanes of all warps
// of the grid, [lane][register]: a, b, c, d. Block scales stand behind the registers of c: one
// 32-bit register for A and one for B. Empty if the instruction is not named "mma.*".
std::string MmaKernel(const Instruction& instruction, const PtxTarget& target);

}  // namespace mmadiff
