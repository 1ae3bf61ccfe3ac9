// Measures the cost of the kernels of a GPU-resident run, one kernel after the other.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "corpus/cases/case_name.h"
#include "device/device.h"

namespace mmadiff {

// Nanoseconds per dot product.
struct KernelCosts {
  double generate = 0;
  double fill = 0;     // clearing the results
  double execute = 0;  // executing the instruction
  double compare = 0;
  double trace = 0;

  double all() const { return generate + fill + execute + compare + trace; }
};

// The costs in a launch that takes `part`, or in the largest launch. nullopt if cases of the
// operation do not stay on the device.
absl::StatusOr<std::optional<KernelCosts>> BenchKernels(Device& device, const CaseStream& stream,
                                                        absl::Duration part);

}  // namespace mmadiff
