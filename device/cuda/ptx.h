// PTX text of kernels made from the instruction table: registers in by lane, one matrix
// instruction, registers out. No layout and no numbers are known here.
#pragma once

#include <string>

#include "sim/instruction.h"

namespace mmadiff {

// 32-bit registers of one lane for each operand of an mma instruction.
struct MmaRegisters {
  int a, b, c, d;
};

// Of an instruction named "mma.*".
MmaRegisters RegistersOf(const Instruction& instruction);

// A kernel named "mma" for a target as ptxas names it ("sm_90a") and a PTX version ("9.0"). Its
// parameters are the addresses of the registers of all lanes of all warps of the grid, [lane][reg]:
// a, b, c, d. Block scales are read from c's lanes behind it: two 32-bit registers, for A and B.
// Empty if the instruction is not named "mma.*".
std::string MmaKernel(const Instruction& instruction, const std::string& target,
                      const std::string& ptx_version);

}  // namespace mmadiff
