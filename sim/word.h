// Words from values and values from words, exactly or not at all; and the words that add nothing.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// The value of a word, the same for floating-point and integer formats:
// (-1)^negative * (1 + fraction / 2^64) * 2^exponent; subnormals have their true exponent.
struct Value {
  enum class Class : uint8_t { kZero, kFinite, kInfinite, kNan };
  Class kind = Class::kZero;
  bool negative = false;
  int exponent = 0;       // of a finite value other than zero
  uint64_t fraction = 0;  // of a finite value, left-aligned; payload of a NaN, right-aligned
};

// `word` is a bit pattern of `format`; ignored bits are dropped.
Value DecodeValue(const Format& format, uint64_t word);

// False, and `word` untouched, when the format cannot hold the value exactly.
bool EncodeValue(const Format& format, const Value& value, uint64_t* word);

// The simplest NaN of that sign: the quiet one without payload where payloads differ. False when
// the format has none.
bool EncodeNan(const Format& format, bool negative, uint64_t* word);

// The word of 2^exponent or its negative; false when the format has none.
bool EncodePowerOfTwo(const Format& format, bool negative, int exponent, uint64_t* word);

// Exponents of the smallest and the largest power of two of the format, subnormals included.
int LowestExponent(const Format& format);
int HighestExponent(const Format& format);

// The word of an integer of any format that holds it exactly, as every format does 1; asserted.
uint64_t IntegerWord(const Format& format, uint64_t value);

// What word `index` of a row of A or a column of B is to add nothing: +0, a scale of 1.0.
uint64_t NeutralWord(const Model& model, int index);
// One dot product, and `count` executions of `shape`, of nothing but these.
DotProductCase NeutralDotProduct(const Model& model);
Batch NeutralBatch(const Model& model, const Shape& shape, int64_t count);

}  // namespace mmadiff
