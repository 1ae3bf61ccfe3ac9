// An operand word as sign, exponent and fraction, the same for floating-point and integer formats:
// what the passes of the minimiser change.
#pragma once

#include <cstdint>

#include "sim/format.h"

namespace mmadiff {

// value = (-1)^negative * (1 + fraction / 2^64) * 2^exponent; subnormals have their true exponent.
struct Operand {
  enum class Class : uint8_t { kZero, kFinite, kInfinite, kNan };
  Class kind = Class::kZero;
  bool negative = false;
  int exponent = 0;       // of a finite value other than zero
  uint64_t fraction = 0;  // of a finite value, left-aligned; payload of a NaN, right-aligned
};

// `word` is a bit pattern of `format`; ignored bits are dropped.
Operand Unpack(const Format& format, uint64_t word);

// False, and `word` untouched, when the format cannot hold the operand exactly.
bool Pack(const Format& format, const Operand& operand, uint64_t* word);

// The simplest NaN of that sign: the quiet one without payload where payloads differ. False when
// the format has none.
bool PackNan(const Format& format, bool negative, uint64_t* word);

// The word of 2^exponent or its negative; false when the format has none.
bool PackPowerOfTwo(const Format& format, bool negative, int exponent, uint64_t* word);

// Exponents of the smallest and the largest power of two of the format, subnormals included.
int LowestExponent(const Format& format);
int HighestExponent(const Format& format);

}  // namespace mmadiff
