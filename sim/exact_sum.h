// Exact fused dot product-add: the products of a step and the addend are added without error, then
// rounded once (E-FDPA of MMA-Sim 2: AMD CDNA1). The sum is kept in 32-bit limbs.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/fused_sum.h"
#include "sim/round.h"
#include "sim/trace.h"

namespace mmadiff {

// Signed sum of numbers magnitude * 2^(lsb - base) with 0 <= lsb - base < 32 * (capacity - 3).
template <int capacity>
class LongSumOf {
 public:
  static constexpr int kLimbs = capacity;

  // `limbs` is the number used: it must hold the largest term and the carries.
  MMADIFF_HD constexpr LongSumOf(int base, int limbs) : base_(base), limbs_(limbs) {
    for (int i = 0; i < limbs; ++i) limb_[i] = 0;
  }

  MMADIFF_HD constexpr void Add(bool negative, uint64_t magnitude, int lsb) {
    const int shift = lsb - base_, i = shift / 32, up = shift % 32;
    const uint64_t low = (magnitude & 0xffffffff) << up, high = (magnitude >> 32) << up;
    const int64_t sign = negative ? -1 : 1;
    limb_[i] += sign * static_cast<int64_t>(low & 0xffffffff);
    limb_[i + 1] += sign * static_cast<int64_t>((low >> 32) + (high & 0xffffffff));
    limb_[i + 2] += sign * static_cast<int64_t>(high >> 32);
  }

  // The sum rounded to odd: at least 33 significant bits (with 128 bits 97), the last one sticky.
  template <class Wide = uint64_t>
  MMADIFF_HD constexpr SignedSum<Wide> ToOdd() {
    constexpr int kTaken = sizeof(Wide) / 4;
    const bool negative = Carry() < 0;
    if (negative) {
      for (int i = 0; i < limbs_; ++i) limb_[i] = -limb_[i];
      limb_[limbs_ - 1] += top_ * -(int64_t{1} << 32);
      Carry();
    }
    int top = limbs_ - 1;
    while (top > kTaken - 1 && limb_[top] == 0) --top;
    const int low = top - kTaken + 1;
    bool sticky = false;
    for (int i = 0; i < low; ++i) sticky |= limb_[i] != 0;
    Wide magnitude = 0;
    for (int i = top; i >= low; --i) magnitude = magnitude << 32 | static_cast<uint64_t>(limb_[i]);
    return {negative, magnitude | sticky, base_ + 32 * low};
  }

 private:
  // Brings every limb to 0 .. 2^32 - 1; returns the carry out of the last: -1 or 0.
  MMADIFF_HD constexpr int64_t Carry() {
    int64_t carry = 0;
    for (int i = 0; i < limbs_; ++i) {
      const int64_t x = limb_[i] + carry;
      limb_[i] = x & 0xffffffff;
      carry = x >> 32;
    }
    return top_ = carry;
  }

  int64_t limb_[kLimbs];
  int64_t top_ = 0;
  int base_, limbs_;
};
// Enough for sums of 2^10 terms: products of f32 and an f32 span 2^-298 .. 2^266.
using LongSum = LongSumOf<24>;

// One step; its products begin at a and b. c is a decoded word of `c_format`.
template <class Row, class Trace>
MMADIFF_HD constexpr uint64_t ExactStep(const Model& m, Row a, Row b, const Step& s,
                                        const Format& c_format, const Unpacked& c, Trace& trace) {
  const int terms = s.terms, step = s.number;
  const int product_bits = m.a.fraction_bits + m.b.fraction_bits;
  const int c_lsb = c.exponent - c_format.fraction_bits;
  unsigned kinds = static_cast<unsigned>(c.kind);
  int low = c_lsb, high = c_lsb;  // least and largest unit of a term
  for (int i = 0; i < terms; ++i) {
    kinds |= static_cast<unsigned>(a[i].kind) | static_cast<unsigned>(b[i].kind);
    const int lsb = a[i].exponent + b[i].exponent - product_bits;
    low = lsb < low ? lsb : low;
    high = lsb > high ? lsb : high;
  }
  if (kinds != 0) {
    const uint64_t word = SumSpecials(m, a, b, terms, c);
    trace(Event{Stage::kSpecial, step, -1, false, word, 0, false});
    return word;
  }
  LongSum sum(low, (high - low) / 32 + 4);
  sum.Add(c.negative, c.significand, c_lsb);
  for (int i = 0; i < terms; ++i) {
    const bool negative = a[i].negative != b[i].negative;
    const uint64_t product = a[i].significand * b[i].significand;
    const int lsb = a[i].exponent + b[i].exponent - product_bits;
    trace(Event{Stage::kProduct, step, s.first + i, negative, product, lsb, false});
    sum.Add(negative, product, lsb);
  }
  const SignedSum<uint64_t> odd = sum.ToOdd();
  const bool minus_zero =
      m.algorithm.zero_sign == ZeroSign::kIeee && AllNegativeZeros(a, b, terms, c);
  return RoundSum(m, odd.magnitude == 0 ? minus_zero : odd.negative, odd.magnitude, odd.lsb, step,
                  trace);
}

// a and b hold m.k decoded operands; c is a word of m.c.
template <class Row, class Trace>
MMADIFF_HD constexpr uint64_t ExactSum(const Model& m, Row a, Row b, uint64_t c, Trace& trace) {
  return ChainSteps(m, c, [&](const Step& s, uint64_t addend) {
    const Format& format = s.number == 0 ? m.c : m.d;
    return ExactStep(m, a + s.first, b + s.first, s, format, Decode(format, addend), trace);
  });
}

}  // namespace mmadiff
