// Exact conversions between words and values, and neutral words, which add nothing.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// The value of a word of a floating-point or integer format:
// (-1)^negative * (1 + fraction / 2^64) * 2^exponent. Subnormals have their true exponent.
struct Value {
  enum class Class : uint8_t { kZero, kFinite, kInfinite, kNan };
  Class kind = Class::kZero;
  bool negative = false;
  int exponent = 0;       // for a finite, nonzero value
  uint64_t fraction = 0;  // left-aligned for a finite value; a NaN's payload is right-aligned
};

// `word` is a bit pattern of `format`; ignored bits are dropped.
Value DecodeValue(const Format& format, uint64_t word);

// Returns false and leaves `word` unchanged if the format cannot represent the value exactly.
bool EncodeValue(const Format& format, const Value& value, uint64_t* word);

// The simplest NaN with that sign: the quiet one without payload, in formats with payloads. False
// if the format has no such NaN.
bool EncodeNan(const Format& format, bool negative, uint64_t* word);

// The word of 2^exponent or its negative; false if the format has none.
bool EncodePowerOfTwo(const Format& format, bool negative, int exponent, uint64_t* word);

// Exponents of the format's smallest and largest powers of two, including subnormals.
int LowestExponent(const Format& format);
int HighestExponent(const Format& format);

// The word of an integer. The format must represent it exactly (asserted); every format has 1, except
// that an absent operand has only the word 0.
uint64_t IntegerWord(const Format& format, uint64_t value);

// The neutral word at `index` of a row of A or a column of B: +0 for elements, 1.0 for scales.
uint64_t NeutralWord(const Model& model, int index);
// A dot product, and `count` executions of `shape`, with only neutral words.
DotProductCase NeutralDotProduct(const Model& model);
Batch NeutralBatch(const Model& model, const Shape& shape, int64_t count);

}  // namespace mmadiff
