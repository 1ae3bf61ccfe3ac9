// Kernels of the driver for tests (fake_driver.cc): what a launch does to one execution. They read
// wgmma, wmma, fma and the kinds of sm_120 by formulas of their own, other mma by those of
// sim/layout.h.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include "device/gpu/testing/fake_model.h"
#include "sim/operation.h"

namespace mmadiff {

struct FakeKernel {
  const Operation* op = nullptr;  // nullptr: no kernel of this GPU
  unsigned threads = 32;
  // Execution x with the addresses of all words of a, b, c, d; false if it cannot be run.
  std::function<bool(unsigned x, const uint64_t* addresses)> execute;
  int d_words = 0;  // of an execution; set by the driver
};

// Whether FAKE_CUDA_OF, a part of names, names the operation's instruction; all when it is not set.
inline bool IsSpoiled(const Operation& op) {
  const char* part = std::getenv("FAKE_CUDA_OF");
  return part == nullptr || op.instruction->name.find(part) != std::string::npos;
}

// An element that does not cross a word.
inline uint64_t BitsAt(const uint32_t* words, int bit, int bits) {
  return words[bit / 32] >> bit % 32 & LowBits(bits);
}

}  // namespace mmadiff
