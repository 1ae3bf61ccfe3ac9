// Integer dot product: each step adds `terms` exact products to the accumulator, then reduces the
// sum to the output by wrapping or saturation. The "product" of two bits is their and or their xor.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/steps.h"
#include "sim/trace.h"

namespace mmadiff {

// The integer value of an element of a row, which is a word or already an integer.
MMADIFF_HD constexpr int64_t IntegerAt(const Format& f, uint64_t word) {
  return DecodeInteger(f, word);
}
MMADIFF_HD constexpr int32_t IntegerAt(const Format&, int32_t integer) { return integer; }

// Whether products of decoded elements, and their sums, fit 32 bits.
constexpr bool HasNarrowIntegers(const Model& m) {
  return m.a.bits <= 8 && m.b.bits <= 8 && m.k <= 1 << 14;
}

// The products of a step, added in pairs to 16-bit integers.
template <class Row>
MMADIFF_HD constexpr int32_t PairSums(const Model& m, const Step& s, Row a, Row b) {
  int32_t sums = 0;
  for (int k = s.first; k < s.first + s.terms;) {
    int32_t pair = 0;
    do {
      pair += static_cast<int32_t>(IntegerAt(m.a, a[k]) * IntegerAt(m.b, b[k]));
    } while (++k % 2 != 0 && k < s.first + s.terms);
    sums += m.algorithm.pair_sum == PairSum::kWrap16 ? static_cast<int16_t>(pair)
            : pair > INT16_MAX                       ? INT16_MAX
            : pair < INT16_MIN                       ? INT16_MIN
                                                     : pair;
  }
  return sums;
}

// c is a word. Elements of a and b are words (uint64_t), or decoded (int32_t) if the model
// HasNarrowIntegers(). m.d is a signed format of at most 32 bits, so 64-bit sums are exact.
template <class Row, class Trace>
MMADIFF_HD constexpr uint64_t IntegerDot(const Model& m, Row a, Row b, uint64_t c, Trace& trace) {
  using Exact = decltype(IntegerAt(m.a, a[0]));
  const bool exclusive = m.algorithm.bit_operation == BitOperation::kXor;
  const int64_t max = static_cast<int64_t>(LowBits(m.d.bits - 1));
  return ChainSteps(m, c, [&](const Step& s, uint64_t addend) {
    int64_t sum = DecodeInteger(s.number == 0 ? m.c : m.d, addend);
    Exact products = 0;
    for (int k = s.first; k < s.first + s.terms; ++k) {
      const Exact x = IntegerAt(m.a, a[k]), y = IntegerAt(m.b, b[k]);
      const Exact product = exclusive ? x ^ y : x * y;
      trace(Event{Stage::kProduct, s.number, k, product < 0,
                  static_cast<uint64_t>(product < 0 ? -product : product), 0, false});
      products += product;
    }
    if (kSimulatesUnusual && m.algorithm.pair_sum != PairSum::kExact)
      products = PairSums(m, s, a, b);
    sum += products;
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
