// What the kernels of a run that stays on a GPU cost, one kernel after the other.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "corpus/cases/case_name.h"
#include "device/device.h"

namespace mmadiff {

// Nanoseconds a dot product.
struct KernelCosts {
  double generate = 0;
  double fill = 0;     // clears the results
  double execute = 0;  // the instruction
  double compare = 0;
  double trace = 0;

  double all() const { return generate + fill + execute + compare + trace; }
};

// The costs in a launch that takes `part`, or in the largest. Nothing where cases of the operation do not stay
// on the device.
absl::StatusOr<std::optional<KernelCosts>> BenchKernels(Device& device, const CaseStream& stream,
                                                        absl::Duration part);

}  // namespace mmadiff
