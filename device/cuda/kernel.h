// Kernels of single instructions (device/gpu/kernel.h) as PTX text generated from the instruction
// table: loads, one instruction, stores, %smid.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "device/cuda/overlap.h"
#include "device/cuda/variant.h"
#include "device/gpu/kernel.h"
#include "sim/instruction.h"

namespace mmadiff {

struct PtxTarget {
  int major, minor;     // compute capability
  const char* arch;     // as in the tables
  const char* target;   // as ptxas names it
  const char* version;  // lowest PTX version with the target and its matrix instructions
};
std::span<const PtxTarget> PtxTargets();

// kNotFound with the reason why the instruction has no kernel on the target.
absl::Status HasKernel(const Instruction& instruction, const PtxTarget& target);
// Also kNotFound if the instruction cannot have the variant's overlap.
absl::Status HasKernel(const Instruction& instruction, const PtxTarget& target,
                       const Variant& variant);

// The registers of an instruction that HasFragments().
RegisterCounts RegistersOf(const Instruction& instruction);

// HasKernel() must be OK.
Kernel KernelOf(const Instruction& instruction, const PtxTarget& target,
                const Variant& variant = {});

// The entry name of a kernel: letters, digits and '_', different for every instruction and variant.
// The instruction's name contains no "__"; "__" follows it for every variant but the first.
std::string KernelName(const Instruction& instruction, const Variant& variant);

// One module with many kernels: entries as in Kernel::text. HasKernel() need not be OK: the
// assembler rejects instructions that the target does not have.
struct ModuleEntry {
  Instruction instruction;
  Variant variant = {};
};
std::string ModuleOf(const PtxTarget& target, std::span<const ModuleEntry> entries);

// The kernels for which a build generates machine code: those of Operations() and
// UnmodelledOperations() for the target's architecture, in all variants; for instructions with
// several sizes only the size in the table.
std::vector<ModuleEntry> BuiltEntries(const PtxTarget& target);
// Whether they include the kernel of an instruction of the target's architecture.
bool IsBuiltEntry(const Instruction& instruction);

}  // namespace mmadiff
