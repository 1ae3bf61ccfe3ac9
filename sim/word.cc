#include "sim/word.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace mmadiff {
namespace {

using Class = Value::Class;

Value FromMagnitude(bool negative, uint64_t magnitude, int lsb_exponent) {
  if (magnitude == 0) return {Class::kZero, negative, 0, 0};
  const int leading = std::bit_width(magnitude) - 1;
  const uint64_t fraction = leading == 0 ? 0 : magnitude << (64 - leading);
  return {Class::kFinite, negative, leading + lsb_exponent, fraction};
}

// The leading one and the top `bits` fraction bits; false if lower bits are set.
bool Significand(uint64_t fraction, int bits, uint64_t* significand) {
  if (bits < 0 || bits > 63 || (bits < 64 && (fraction << bits) != 0)) return false;
  *significand = 1ull << bits | (bits == 0 ? 0 : fraction >> (64 - bits));
  return true;
}

bool EncodeInteger(const Format& f, const Value& o, uint64_t* word) {
  if (o.kind == Class::kInfinite || o.kind == Class::kNan) return false;
  uint64_t magnitude = 0;
  if (o.kind == Class::kFinite && !Significand(o.fraction, o.exponent, &magnitude)) return false;
  if (o.negative && (!f.is_signed || magnitude == 0)) return false;
  const uint64_t limit = LowBits(f.is_signed ? f.bits - 1 : f.bits) + (o.negative ? 1 : 0);
  if (magnitude > limit) return false;
  *word = (o.negative ? -magnitude : magnitude) & LowBits(f.bits);
  return true;
}

// Exponent field and fraction of an infinity or a NaN. EncodeValue() checks which of them it is.
bool EncodeSpecial(const Format& f, const Value& o, uint64_t* bits) {
  const bool nan = o.kind == Class::kNan;
  if ((!nan && !HasInfinity(f)) || (o.fraction & ~LowBits(f.fraction_bits)) != 0) return false;
  *bits = static_cast<uint64_t>(MaxExponentField(f)) << f.fraction_bits;
  if (nan) *bits |= o.fraction;
  // In these formats the pattern of -0 is the NaN.
  if (f.nonfinite == Nonfinite::kNanMinusZero) *bits = o.fraction;
  return true;
}

}  // namespace

Value DecodeValue(const Format& f, uint64_t word) {
  if (IsInteger(f)) {
    const int64_t value = DecodeInteger(f, word);
    return FromMagnitude(value < 0, value < 0 ? -static_cast<uint64_t>(value) : value, 0);
  }
  const Unpacked u = Decode(f, word);
  if (u.kind == Kind::kInfinite) return {Class::kInfinite, u.negative, 0, 0};
  if (u.kind == Kind::kNan) {
    return {Class::kNan, u.negative, 0, u.significand & LowBits(f.fraction_bits)};
  }
  return FromMagnitude(u.negative, u.significand, u.exponent - f.fraction_bits);
}

bool EncodeValue(const Format& f, const Value& o, uint64_t* word) {
  if (IsInteger(f)) return EncodeInteger(f, o, word);
  if (o.negative && !f.is_signed) return false;
  uint64_t bits = 0;  // exponent field and fraction
  if (o.kind == Class::kInfinite || o.kind == Class::kNan) {
    if (!EncodeSpecial(f, o, &bits)) return false;
  } else if (o.kind == Class::kFinite) {
    const bool normal = o.exponent >= LeastExponent(f);
    const int available = f.fraction_bits - (normal ? 0 : f.min_exponent - o.exponent);
    if (o.exponent > MaxExponent(f) || !Significand(o.fraction, available, &bits)) return false;
    if (normal) bits += static_cast<uint64_t>(o.exponent - f.min_exponent) << f.fraction_bits;
  } else if (!f.has_zero) {
    return false;
  }
  const uint64_t sign = static_cast<uint64_t>(o.negative) << (f.fraction_bits + f.exponent_bits);
  const uint64_t packed = (sign | bits) << f.ignored_bits;
  // The pattern may not be the requested value: in a format without infinity, the largest pattern
  // or -0 may be a NaN.
  if (IsNan(f, packed) != (o.kind == Class::kNan)) return false;
  *word = packed;
  return true;
}

bool EncodeNan(const Format& f, bool negative, uint64_t* word) {
  if (f.nonfinite == Nonfinite::kNone) return false;
  const uint64_t payload = f.nonfinite == Nonfinite::kNanAllOnes ? LowBits(f.fraction_bits)
                           : f.nonfinite == Nonfinite::kNanMinusZero
                               ? 0
                               : 1ull << (f.fraction_bits - 1);
  return EncodeValue(f, {Class::kNan, negative, 0, payload}, word);
}

bool EncodePowerOfTwo(const Format& f, bool negative, int exponent, uint64_t* word) {
  return EncodeValue(f, {Class::kFinite, negative, exponent, 0}, word);
}

int LowestExponent(const Format& f) {
  if (IsInteger(f)) return 0;
  return LeastExponent(f) - (f.has_zero ? f.fraction_bits : 0);
}

int HighestExponent(const Format& f) {
  return IsInteger(f) ? std::max(f.bits - 1, 0) : MaxExponent(f);
}

uint64_t IntegerWord(const Format& f, uint64_t value) {
  uint64_t word = 0;
  [[maybe_unused]] const bool exact = EncodeValue(f, FromMagnitude(false, value, 0), &word);
  assert(exact || IsAbsent(f));
  return word;
}

uint64_t NeutralWord(const Model& m, int index) {
  return index < m.k ? 0 : IntegerWord(m.scale, 1);
}

DotProductCase NeutralDotProduct(const Model& m) {
  return Extract(NeutralBatch(m, {1, 1, m.k, 1, m.scales(), m.groups()}, 1), 0);
}

Batch NeutralBatch(const Model& m, const Shape& shape, int64_t count) {
  Batch batch;
  batch.Resize(shape, count);
  for (auto* words : {&batch.a, &batch.b}) {
    for (size_t i = 0; shape.scales > 0 && i < words->size(); ++i) {
      (*words)[i] = NeutralWord(m, static_cast<int>(i % shape.row_words()));
    }
  }
  return batch;
}

}  // namespace mmadiff
