// Kernels of single instructions (device/gpu/kernel.h) as AMDGPU assembly text generated from the
// instruction table: loads, one instruction, stores, and the place where it ran.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "device/gpu/kernel.h"
#include "device/mode.h"
#include "sim/instruction.h"

namespace mmadiff {

// Where the addend and the result of a matrix instruction may be.
enum class Accumulators : uint8_t {
  kOnlyAccumulators,  // in registers of their own (AccVGPRs) alone
  kUnified,           // in either half of one register file
  kNone,              // in ordinary registers; there are no AccVGPRs
};

struct HipTarget {
  const char* target;  // "gfx942", as the compiler and the driver name it
  const char* arch;    // as in the tables
  int wave;            // lanes
  Accumulators accumulators;
};
std::span<const HipTarget> HipTargets();
// nullptr if no kernels exist for it. Features after the name ("gfx942:sramecc+:xnack-") are
// ignored.
const HipTarget* FindHipTarget(absl::string_view name);

// The bits of the register MODE that arithmetic may read (LLVM, SIDefines.h, ModeRegisterMasks;
// gfx12 has no IEEE and DX10_CLAMP. Not confirmed: FP16_OVFL at bit 23). Kernels start with the
// mode that compilers use: f32 and f16/f64 subnormals kept, round to nearest even, IEEE,
// DX10_CLAMP.
inline constexpr uint32_t kHipModeAtStart = 0x3f0;
std::span<const Mode> HipModes();
std::vector<Mode> HipModes(const HipTarget& target);  // without modes that gfx12 does not have

// kNotFound with the reason why the instruction has no kernel on the target.
absl::Status HasHipKernel(const Instruction& instruction, const HipTarget& target);

// HasHipKernel() must be OK. After the five addresses of Kernel::text the kernel takes a 32-bit
// word: MODE while the instruction runs.
Kernel HipKernelOf(const Instruction& instruction, const HipTarget& target);

// The entry name of a kernel: letters, digits and '_'.
std::string HipKernelName(const Instruction& instruction);

// One module with many kernels. HasHipKernel() need not be OK: the assembler rejects instructions
// that the target does not have.
std::string HipModuleOf(const HipTarget& target, std::span<const Instruction* const> instructions);

// The instructions for which a build generates machine code: those of Operations() and
// UnmodelledOperations() for the target's architecture that have a kernel.
std::vector<const Instruction*> BuiltHipInstructions(const HipTarget& target);

}  // namespace mmadiff
