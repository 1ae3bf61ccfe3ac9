// The kernels of wgmma.* of the driver for tests.
#pragma once

#include <string>

#include "device/cuda/testing/fake_kernel.h"

namespace mmadiff {

// From the PTX text, which it runs.
FakeKernel FakeWgmma(const std::string& ptx);

}  // namespace mmadiff
