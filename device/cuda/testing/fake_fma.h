// The kernels of fma of the driver for tests.
#pragma once

#include "device/cuda/testing/fake_kernel.h"

namespace mmadiff {

FakeKernel FakeFma(const Operation& op);

}  // namespace mmadiff
