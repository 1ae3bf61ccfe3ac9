// The wgmma.* kernels of the test driver.
#pragma once

#include <string>

#include "device/cuda/testing/fake_kernel.h"

namespace mmadiff {

// Makes the kernel from the PTX text, which it interprets.
FakeKernel FakeWgmma(const std::string& ptx);

}  // namespace mmadiff
