// The mma.* kernels of the test driver.
#pragma once

#include "device/cuda/testing/fake_kernel.h"

namespace mmadiff {

FakeKernel FakeMma(const Operation& op);

}  // namespace mmadiff
