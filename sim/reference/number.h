// What a word of a floating-point format stands for, and the words of results.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/format.h"
#include "sim/reference/dyadic.h"

namespace mmadiff::reference {

enum class Class { kZero, kSubnormal, kNormal, kInfinity, kNan };

struct Number {
  Class kind;
  bool negative;     // also of zeros and NaNs
  long significand;  // signed; zero unless kind is kSubnormal or kNormal ...
  long ulp;          // ... and the exponent of its last bit
  long exponent;     // max(floor(log2 |x|), emin) of a finite number, emin of zero; without a zero
                     // in the format, floor(log2 |x|) of every number
  uint64_t payload;  // of a NaN: its fraction, the quiet bit included ...
  int payload_bits;  // ... and how many bits that are

  Dyadic value() const { return {significand, ulp}; }
};

Number Read(const Format& format, uint64_t word);

// x, or a zero in its place if x is subnormal or a zero and the kind says so.
Number Flushed(Subnormals kind, const Number& x);

// floor(log2) of the largest finite number of a format with infinities.
long LargestExponent(const Format& format);

uint64_t ZeroWord(const Format& format, bool negative);
// The zero that an operation gives where its arithmetic asks for one of that sign.
uint64_t ZeroResult(const Format& format, const Algorithm& algorithm, bool negative);
uint64_t InfiniteWord(const Format& format, bool negative);
// The one NaN that the rule produces when there is none to propagate.
uint64_t DefaultNan(const Format& format, NanRule rule);
// A NaN operand in the result's format: sign and payload kept, left-aligned, quiet bit set.
uint64_t QuietedNan(const Format& format, const Number& nan);

// The nonzero number x in the result's format: one rounding to algorithm.output_fraction_bits
// (fewer where the format's subnormals end), too large a magnitude as range_overflow says, tiny
// results to zero where the algorithm flushes. `*zero` says that the result is a zero.
uint64_t RoundedWord(const Format& format, const Algorithm& algorithm, const Dyadic& x, bool* zero);

}  // namespace mmadiff::reference
