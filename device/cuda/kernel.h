// Kernels of single instructions (device/gpu/kernel.h) as PTX text made from the instruction table:
// loads, one instruction, stores, %smid.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "device/cuda/variant.h"
#include "device/gpu/kernel.h"
#include "sim/instruction.h"

namespace mmadiff {

struct PtxTarget {
  int major, minor;     // compute capability
  const char* arch;     // of the tables
  const char* target;   // as ptxas names it
  const char* version;  // least PTX version that knows the target and its matrix instructions
};
std::span<const PtxTarget> PtxTargets();

// kNotFound says why the instruction has no kernel on the target.
absl::Status HasKernel(const Instruction& instruction, const PtxTarget& target);

// HasKernel() must be OK.
Kernel KernelOf(const Instruction& instruction, const PtxTarget& target,
                const Variant& variant = {});

// The entry of a kernel: letters, digits and '_', another for every instruction and variant of it.
// Behind the name of the instruction, which has no "__", stands "__" where it is not the first.
std::string KernelName(const Instruction& instruction, const Variant& variant);

// One module of many kernels: entries as of Kernel::text. HasKernel() need not be OK: what a target
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

}  // namespace mmadiff
