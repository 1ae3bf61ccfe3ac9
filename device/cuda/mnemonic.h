// From the mnemonic of an mma or wmma.mma in PTX to the kernel that executes it.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/cuda/kernel.h"
#include "device/cuda/variant.h"
#include "sim/operation.h"

namespace mmadiff {

// The target that ".target NAME" or -arch=NAME means, also without its letter: sm_90 is sm_90a.
// kNotFound, with all targets.
absl::StatusOr<const PtxTarget*> TargetNamed(absl::string_view name);

struct MnemonicKernel {
  const Operation* op;
  Variant variant;  // without an overlap
};
// The target's operation whose kernel has the mnemonic; ".aligned" and ".rn", which PTX allows to
// leave out, are ignored. kNotFound with the reason.
absl::StatusOr<MnemonicKernel> KernelWithMnemonic(absl::string_view mnemonic,
                                                  const PtxTarget& target);

}  // namespace mmadiff
