// The wmma kernels of the test driver.
#pragma once

#include <string>

#include "device/cuda/testing/fake_kernel.h"

namespace mmadiff {

// Makes the kernel from the facts in the PTX text about each matrix: order, leading dimension,
// bytes of an execution.
FakeKernel FakeWmma(const Operation& op, const std::string& ptx);

}  // namespace mmadiff
