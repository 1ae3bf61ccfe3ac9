// Kernels of the driver for tests (fake_driver.cc): what a launch does to one execution. They read
// wgmma and the kinds of sm_120 by formulas of their own, other mma by those of sim/layout.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sim/row.h"

namespace mmadiff {

struct FakeKernel {
  const Row* row = nullptr;  // nullptr: no kernel of this GPU
  unsigned threads = 32;
  int a_words = 0, b_words = 0, c_words = 0, d_words = 0;  // of one execution
  std::function<void(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d)> execute;
};

// An element that does not cross a word.
inline uint64_t BitsAt(const uint32_t* words, int bit, int bits) {
  return words[bit / 32] >> bit % 32 & LowBits(bits);
}

// mma, from the row.
FakeKernel FakeMma(const Row& row);

// wgmma, from the instruction and the descriptors in the PTX text.
FakeKernel FakeWgmma(const std::string& ptx);

}  // namespace mmadiff
