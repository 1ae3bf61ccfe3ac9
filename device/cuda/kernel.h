// Kernels of single instructions: loads, one instruction, stores; PTX text made from the
// instruction table. Kernels know no layout: they move words, and the maps beside them say where
// the elements lie in these.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "device/cuda/slot.h"
#include "device/cuda/variant.h"
#include "sim/instruction.h"
#include "sim/layout.h"

namespace mmadiff {

struct PtxTarget {
  int major, minor;     // compute capability
  const char* arch;     // of the tables
  const char* target;   // as ptxas names it
  const char* version;  // least PTX version that knows the target and its matrix instructions
};
std::span<const PtxTarget> PtxTargets();

// The words of one execution that hold an operand, and its elements in the order of a Batch: rows
// of A and columns of B with their scales, C and D row by row.
struct OperandWords {
  int words = 0;
  std::vector<Slot> slots;
};

struct Kernel {
  std::string entry;  // its name in modules
  // A module with that entry, whose parameters are the addresses of the words of all executions of
  // the grid, [execution][word]: a, b, c, d; and of [execution] words that receive the number of
  // the multiprocessor (%smid) last of all. Execution x is done by block x.
  std::string ptx;
  int threads = 32;  // of a block
  OperandWords a, b, c, d;
};

// kNotFound says why the instruction has no kernel on the target.
absl::Status HasKernel(const Instruction& instruction, const PtxTarget& target);

// HasKernel() must be OK.
Kernel KernelOf(const Instruction& instruction, const PtxTarget& target,
                const Variant& variant = {});

// The entry of a kernel: letters, digits and '_', another for every instruction and variant of it.
// Behind the name of the instruction, which has no "__", stands "__" where it is not the first.
std::string KernelName(const Instruction& instruction, const Variant& variant);

// One module of many kernels: entries as of Kernel::ptx. HasKernel() need not be OK: what a target
// does not have its assembler refuses.
struct ModuleEntry {
  Instruction instruction;
  Variant variant = {};
};
std::string ModuleOf(const PtxTarget& target, std::span<const ModuleEntry> entries);

// What a build makes machine code of: the kernels of Operations() and UnmodelledOperations() of
// the target's architecture, of instructions with several sizes that of the table alone, in all
// variants.
std::vector<ModuleEntry> BuiltEntries(const PtxTarget& target);
// Whether the kernel of an instruction of the target's architecture is among them.
bool IsBuiltEntry(const Instruction& instruction);

// The words of an operand as the layout (sim/layout.h) has them, lane after lane: A and B are
// followed by their scales.
OperandWords WordsOf(const Instruction& instruction, Operand operand);

}  // namespace mmadiff
