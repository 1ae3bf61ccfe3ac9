// Integer dot product: each step adds `terms` exact products to the accumulator and reduces the sum
// to the output once, by wrapping or by saturation. "Products" of bits are their and or their xor.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/trace.h"

namespace mmadiff {

// a, b and c are words; m.d is a signed format of at most 32 bits, so 64-bit sums are exact.
template <class Trace>
MMADIFF_HD constexpr uint64_t IntegerDot(const Model& m, const uint64_t* a, const uint64_t* b,
                                         uint64_t c, Trace& trace) {
  const int terms = m.algorithm.terms < m.k ? m.algorithm.terms : m.k;
  const int64_t max = static_cast<int64_t>(LowBits(m.d.bits - 1));
  int64_t sum = DecodeInteger(m.c, c);
  for (int k = 0, step = 0; k < m.k; ++step) {
    for (int i = 0; i < terms && k < m.k; ++i, ++k) {
      const int64_t x = DecodeInteger(m.a, a[k]), y = DecodeInteger(m.b, b[k]);
      const int64_t product = m.algorithm.bit_operation == BitOperation::kXor ? x ^ y : x * y;
      trace(Event{Stage::kProduct, step, k, product < 0,
                  static_cast<uint64_t>(product < 0 ? -product : product), 0, false});
      sum += product;
    }
    trace(Event{Stage::kSum, step, -1, sum < 0, static_cast<uint64_t>(sum < 0 ? -sum : sum), 0,
                false});
    const bool outside = sum > max || sum < -max - 1;
    if (m.algorithm.overflow == Overflow::kSaturate && outside) sum = sum > 0 ? max : -max - 1;
    sum = DecodeInteger(m.d, static_cast<uint64_t>(sum));
    trace(Event{Stage::kRounded, step, -1, false, static_cast<uint64_t>(sum) & LowBits(m.d.bits), 0,
                outside});
  }
  return static_cast<uint64_t>(sum) & LowBits(m.d.bits);
}

}  // namespace mmadiff
