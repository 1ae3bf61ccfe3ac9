// Kernels of single instructions (device/gpu/kernel.h) as AMDGPU assembly text made from the
// instruction table: loads, one instruction, stores, where it ran.
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

// Where the addend and the result of a matrix instruction may lie.
enum class Accumulators : uint8_t {
  kOnlyAccumulators,  // in registers of their own (AccVGPRs) alone
  kUnified,           // in either half of one register file
  kNone,              // there are no others
};

struct HipTarget {
  const char* target;  // "gfx942", as the compiler and the driver name it
  const char* arch;    // of the tables
  int wave;            // lanes
  Accumulators accumulators;
};
std::span<const HipTarget> HipTargets();
// nullptr when there are no kernels for it. Features behind the name ("gfx942:sramecc+:xnack-") do
// not count.
const HipTarget* FindHipTarget(absl::string_view name);

// The bits of the register MODE that arithmetic may read (LLVM, SIDefines.h, ModeRegisterMasks;
// gfx12 has no IEEE and DX10_CLAMP. Not confirmed: FP16_OVFL at bit 23). What kernels start with is
// what compilers take: f32 and f16/f64 subnormals kept, round to nearest even, IEEE, DX10_CLAMP.
inline constexpr uint32_t kHipModeAtStart = 0x3f0;
std::span<const Mode> HipModes();
std::vector<Mode> HipModes(const HipTarget& target);  // without what gfx12 does not have

// kNotFound says why the instruction has no kernel on the target.
absl::Status HasHipKernel(const Instruction& instruction, const HipTarget& target);

// HasHipKernel() must be OK. After the five addresses of Kernel::text the kernel takes a 32-bit
// word: MODE while the instruction runs.
Kernel HipKernelOf(const Instruction& instruction, const HipTarget& target);

// The entry of a kernel: letters, digits and '_'.
std::string HipKernelName(const Instruction& instruction);

// One module of many kernels. HasHipKernel() need not be OK: what a target does not have its
// assembler refuses.
std::string HipModuleOf(const HipTarget& target, std::span<const Instruction* const> instructions);

// What a build makes machine code of: of Operations() and UnmodelledOperations() of the target's
// architecture those that have a kernel.
std::vector<const Instruction*> BuiltHipInstructions(const HipTarget& target);

}  // namespace mmadiff
