// The fma kernels of the test driver.
#pragma once

#include "device/cuda/testing/fake_kernel.h"

namespace mmadiff {

FakeKernel FakeFma(const Operation& op);

}  // namespace mmadiff
