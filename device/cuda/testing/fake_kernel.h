// Kernels of the test driver (fake_driver.cc): the effect of a launch on one execution. They read
// wgmma, wmma, fma and the kinds of sm_120 by their own formulas, other mma by those of
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
  const Operation* op = nullptr;  // nullptr: this GPU has no such kernel
  unsigned threads = 32;
  // Runs execution x on the addresses of all words of a, b, c, d; false if it cannot be run.
  std::function<bool(unsigned x, const uint64_t* addresses)> execute;
  int d_words = 0;  // per execution; set by the driver
};

// Whether FAKE_CUDA_OF, a substring of names, matches the operation's instruction; if it is not
// set, all match.
inline bool IsSpoiled(const Operation& op) {
  const char* part = std::getenv("FAKE_CUDA_OF");
  return part == nullptr || op.instruction->name.find(part) != std::string::npos;
}

// An element that is within one word.
inline uint64_t BitsAt(const uint32_t* words, int bit, int bits) {
  return words[bit / 32] >> bit % 32 & LowBits(bits);
}

}  // namespace mmadiff
