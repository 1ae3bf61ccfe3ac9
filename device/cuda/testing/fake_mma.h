// The kernels of mma.* of the driver for tests.
#pragma once

#include "device/cuda/testing/fake_kernel.h"

namespace mmadiff {

FakeKernel FakeMma(const Operation& op);

}  // namespace mmadiff
