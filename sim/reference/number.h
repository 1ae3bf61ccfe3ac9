// The values of words of a floating-point format, and the words of results.
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
  long exponent;     // max(floor(log2 |x|), emin) for a finite number, emin for zero; if the format
                     // has no zero, floor(log2 |x|) for every number
  uint64_t payload;  // of a NaN: its fraction, including the quiet bit ...
  int payload_bits;  // ... and its number of bits

  Dyadic value() const { return {significand, ulp}; }
};

Number Read(const Format& format, uint64_t word);

// x, replaced by a zero if x is subnormal or zero and `kind` flushes it.
Number Flushed(Subnormals kind, const Number& x);

// floor(log2) of the largest finite number of a format with infinities.
long LargestExponent(const Format& format);

uint64_t ZeroWord(const Format& format, bool negative);
// The zero that an operation returns if its arithmetic gives a zero with that sign.
uint64_t ZeroResult(const Format& format, const Algorithm& algorithm, bool negative);
uint64_t InfiniteWord(const Format& format, bool negative);
// The NaN that the rule gives without a NaN to propagate.
uint64_t DefaultNan(const Format& format, NanRule rule);
// A NaN operand in the result's format: sign and payload kept, left-aligned, quiet bit set.
uint64_t QuietedNan(const Format& format, const Number& nan);

// The nonzero number x in the result's format, rounded once to algorithm.output_fraction_bits
// (fewer for subnormals). range_overflow decides about too large magnitudes; tiny results become
// zero if the algorithm flushes. `*zero` is set to whether the result is a zero.
uint64_t RoundedWord(const Format& format, const Algorithm& algorithm, const Dyadic& x, bool* zero);

}  // namespace mmadiff::reference
