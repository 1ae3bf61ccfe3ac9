// What a GPU does with the words of a tcgen05 kernel, for tests: its own addressing, not PlaceOf().
#pragma once

#include <cstdint>

#include "device/cuda/kernel.h"
#include "device/cuda/testing/fake_kernel.h"

namespace mmadiff {

// One execution; the arrays are its words of the operands. Unused words of d become zeros.
void ExecuteTcgen05(const Operation& op, SourceOfA source, const uint32_t* a, const uint32_t* b,
                    const uint32_t* c, uint32_t* d);

// The kernel of the driver for tests.
FakeKernel FakeTcgen05(const Operation& op, SourceOfA source);

}  // namespace mmadiff
