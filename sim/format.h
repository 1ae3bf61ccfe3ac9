// Number formats as rows, and decoding of a bit pattern into integers.
//
// A word is a bit pattern right-aligned in a uint64_t. Oddities of a format are columns, not code.
#pragma once

#include <cstdint>

#include "sim/host_device.h"

namespace mmadiff {

// What the largest exponent field means.
enum class Nonfinite : uint8_t {
  kIeee,        // fraction 0 is infinity, any other NaN
  kNanAllOnes,  // only the all-ones pattern is NaN; there is no infinity (OCP e4m3)
  kNone,        // integers
};

struct Format {
  const char* name;
  int bits;           // width of a word, ignored bits included
  int exponent_bits;  // 0 for integers
  int fraction_bits;  // stored significand bits, the implicit one excluded
  int min_exponent;   // exponent of the smallest normal number; also of every subnormal
  int ignored_bits;   // low bits that the hardware does not read (tf32 in a 32-bit register)
  Nonfinite nonfinite;
  bool is_signed;
};

// Sources: IEEE 754-2019 table 3.5 (f64 f32 f16); PTX ISA "Alternate floating-point data formats"
// (bf16, tf32); OCP 8-bit floating point specification 1.0 (e4m3, e5m2).
inline constexpr Format kF64 = {"f64", 64, 11, 52, -1022, 0, Nonfinite::kIeee, true};
inline constexpr Format kF32 = {"f32", 32, 8, 23, -126, 0, Nonfinite::kIeee, true};
inline constexpr Format kTf32 = {"tf32", 32, 8, 10, -126, 13, Nonfinite::kIeee, true};
inline constexpr Format kF16 = {"f16", 16, 5, 10, -14, 0, Nonfinite::kIeee, true};
inline constexpr Format kBf16 = {"bf16", 16, 8, 7, -126, 0, Nonfinite::kIeee, true};
inline constexpr Format kE4m3 = {"e4m3", 8, 4, 3, -6, 0, Nonfinite::kNanAllOnes, true};
inline constexpr Format kE5m2 = {"e5m2", 8, 5, 2, -14, 0, Nonfinite::kIeee, true};
inline constexpr Format kS32 = {"s32", 32, 0, 0, 0, 0, Nonfinite::kNone, true};
inline constexpr Format kS16 = {"s16", 16, 0, 0, 0, 0, Nonfinite::kNone, true};
inline constexpr Format kS8 = {"s8", 8, 0, 0, 0, 0, Nonfinite::kNone, true};
inline constexpr Format kU8 = {"u8", 8, 0, 0, 0, 0, Nonfinite::kNone, false};

// Every format, for `mmadiff list formats` and for the exhaustive tests.
inline constexpr const Format* kFormats[] = {&kF64,  &kF32, &kTf32, &kF16, &kBf16, &kE4m3,
                                             &kE5m2, &kS32, &kS16,  &kS8,  &kU8};

MMADIFF_HD constexpr bool IsInteger(const Format& f) { return f.exponent_bits == 0; }
MMADIFF_HD constexpr uint64_t LowBits(int n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }
// Hex digits of a word in the line protocol.
MMADIFF_HD constexpr int HexDigits(const Format& f) { return (f.bits + 3) / 4; }
MMADIFF_HD constexpr int SignBit(const Format& f) { return f.bits - 1; }
MMADIFF_HD constexpr int MaxExponentField(const Format& f) { return (1 << f.exponent_bits) - 1; }

// Exponent of the largest finite number.
MMADIFF_HD constexpr int MaxExponent(const Format& f) {
  return f.min_exponent + MaxExponentField(f) - (f.nonfinite == Nonfinite::kIeee ? 2 : 1);
}

enum class Kind : uint8_t { kFinite = 0, kInfinite = 1, kNan = 2 };

// value = (-1)^negative * significand * 2^(exponent - fraction bits of the format).
// The exponent of zero and of subnormals is the format's min_exponent ("raw" exponent).
struct Unpacked {
  uint64_t significand;
  int32_t exponent;
  bool negative;
  Kind kind;
};

// `word` must be a bit pattern of the floating-point format `f`. Ignored bits are dropped first,
// so a tf32 NaN whose payload lies only in them reads as infinity.
MMADIFF_HD constexpr Unpacked Decode(const Format& f, uint64_t word) {
  word >>= f.ignored_bits;
  const uint64_t fraction = word & LowBits(f.fraction_bits);
  const int field = static_cast<int>(word >> f.fraction_bits) & MaxExponentField(f);
  const bool negative = (word >> (f.fraction_bits + f.exponent_bits)) & 1;
  // Without branches: random operands would mispredict them.
  const bool top = field == MaxExponentField(f);
  const bool all_ones = fraction == LowBits(f.fraction_bits);
  const int ieee_kind = top + (top & (fraction != 0));
  const int kind = f.nonfinite == Nonfinite::kIeee ? ieee_kind : 2 * (top & all_ones);
  const bool subnormal = field == 0;
  const uint64_t implicit_one = static_cast<uint64_t>(!subnormal) << f.fraction_bits;
  const int exponent = f.min_exponent + field - !subnormal;
  return {fraction | implicit_one, exponent, negative, static_cast<Kind>(kind)};
}

// `word` must be a bit pattern of the integer format `f`.
MMADIFF_HD constexpr int64_t DecodeInteger(const Format& f, uint64_t word) {
  const uint64_t sign = f.is_signed ? 1ull << SignBit(f) : 0;
  return static_cast<int64_t>(((word & LowBits(f.bits)) ^ sign) - sign);
}

MMADIFF_HD constexpr bool IsNan(const Format& f, uint64_t word) {
  return !IsInteger(f) && Decode(f, word).kind == Kind::kNan;
}

// Bit pattern of infinity; `f` must have one.
MMADIFF_HD constexpr uint64_t InfinityWord(const Format& f, bool negative) {
  const uint64_t sign = negative ? 1ull << (f.fraction_bits + f.exponent_bits) : 0;
  const uint64_t field = static_cast<uint64_t>(MaxExponentField(f)) << f.fraction_bits;
  return (sign | field) << f.ignored_bits;
}

}  // namespace mmadiff
