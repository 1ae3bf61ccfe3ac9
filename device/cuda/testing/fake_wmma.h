// The kernels of wmma of the driver for tests.
#pragma once

#include <string>

#include "device/cuda/testing/fake_kernel.h"

namespace mmadiff {

// By what the PTX text says of each matrix: order, leading dimension, bytes of an execution.
FakeKernel FakeWmma(const Operation& op, const std::string& ptx);

}  // namespace mmadiff
