// The effect of a tcgen05 kernel on its words, for tests: uses its own addressing, not PlaceOf().
#pragma once

#include <cstdint>

#include "device/cuda/kernel.h"
#include "device/cuda/testing/fake_kernel.h"

namespace mmadiff {

// Runs one execution; the arrays are its operand words. Unused words of d become zeros.
void ExecuteTcgen05(const Operation& op, SourceOfA source, const uint32_t* a, const uint32_t* b,
                    const uint32_t* c, uint32_t* d);

// The kernel of the test driver.
FakeKernel FakeTcgen05(const Operation& op, SourceOfA source);

}  // namespace mmadiff
