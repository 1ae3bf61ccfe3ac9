// Integer dot product: each step adds `terms` exact products to the accumulator and reduces the sum
// to the output once, by wrapping or by saturation. "Products" of bits are their and or their xor.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/steps.h"
#include "sim/trace.h"

namespace mmadiff {

// a, b and c are words; m.d is a signed format of at most 32 bits, so 64-bit sums are exact.
template <class Trace>
MMADIFF_HD constexpr uint64_t IntegerDot(const Model& m, const uint64_t* a, const uint64_t* b,
                                         uint64_t c, Trace& trace) {
  const int64_t max = static_cast<int64_t>(LowBits(m.d.bits - 1));
  return ChainSteps(m, c, [&](const Step& s, uint64_t addend) {
    int64_t sum = DecodeInteger(s.number == 0 ? m.c : m.d, addend);
    for (int k = s.first; k < s.first + s.terms; ++k) {
      const int64_t x = DecodeInteger(m.a, a[k]), y = DecodeInteger(m.b, b[k]);
      const int64_t product = m.algorithm.bit_operation == BitOperation::kXor ? x ^ y : x * y;
      trace(Event{Stage::kProduct, s.number, k, product < 0,
                  static_cast<uint64_t>(product < 0 ? -product : product), 0, false});
      sum += product;
    }
    trace(Event{Stage::kSum, s.number, -1, sum < 0, static_cast<uint64_t>(sum < 0 ? -sum : sum), 0,
                false});
    const bool outside = sum > max || sum < -max - 1;
    if (m.algorithm.overflow == Overflow::kSaturate && outside) sum = sum > 0 ? max : -max - 1;
    const uint64_t word = static_cast<uint64_t>(sum) & LowBits(m.d.bits);
    trace(Event{Stage::kRounded, s.number, -1, false, word, 0, outside});
    return word;
  });
}

}  // namespace mmadiff
