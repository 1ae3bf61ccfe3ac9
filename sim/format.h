// Number formats as a table, and the decoding of bit patterns into integers.
//
// A word is a bit pattern, right-aligned in a uint64_t. A format's oddities are columns, not code.
#pragma once

#include <cstdint>

#include "sim/host_device.h"

namespace mmadiff {

// How a format encodes infinities and NaNs.
enum class Nonfinite : uint8_t {
  kIeee,          // largest exponent field: fraction 0 is infinity, any other is NaN
  kIeeeAllBits,   // as kIeee, but a nonzero ignored bit turns an infinity into a NaN
  kNanAllOnes,    // only the all-ones pattern is NaN; no infinity (OCP e4m3, scales)
  kNanMinusZero,  // only the pattern of -0 is NaN; no infinity and no -0 (fnuz)
  kNone,          // every pattern is a number (OCP e2m1, e2m3, e3m2; integers)
};

struct Format {
  const char* name;
  int bits;           // width of a word, including ignored bits
  int exponent_bits;  // 0 for integers
  int fraction_bits;  // stored significand bits, without the implicit one
  int min_exponent;   // exponent of normal numbers with exponent field 1, and of subnormals
  int ignored_bits;   // low bits that the hardware does not read (tf32 in a 32-bit register)
  Nonfinite nonfinite;
  bool is_signed;
  bool has_zero = true;  // field 0 encodes zero and subnormals; if false, 2^(min_exponent - 1)
};

// Sources: IEEE 754-2019 table 3.5 (f64 f32 f16); PTX ISA "Alternate floating-point data formats"
// (bf16, tf32, ue8m0, ue4m3); Intel AMX-TF32, which quiets a NaN before it drops the low bits
// (tf32_amx); OCP 8-bit floating point 1.0 (e4m3, e5m2); OCP Microscaling 1.0 (e2m3 e3m2 e2m1
// ue8m0); AMD CDNA3 ISA, 8-bit formats with bias 8 and 16 (fnuz).
inline constexpr Format kF64 = {"f64", 64, 11, 52, -1022, 0, Nonfinite::kIeee, true};
inline constexpr Format kF32 = {"f32", 32, 8, 23, -126, 0, Nonfinite::kIeee, true};
inline constexpr Format kTf32 = {"tf32", 32, 8, 10, -126, 13, Nonfinite::kIeee, true};
inline constexpr Format kTf32Amx = {"tf32_amx", 32, 8, 10, -126, 13, Nonfinite::kIeeeAllBits, true};
inline constexpr Format kF16 = {"f16", 16, 5, 10, -14, 0, Nonfinite::kIeee, true};
inline constexpr Format kBf16 = {"bf16", 16, 8, 7, -126, 0, Nonfinite::kIeee, true};
inline constexpr Format kE4m3 = {"e4m3", 8, 4, 3, -6, 0, Nonfinite::kNanAllOnes, true};
inline constexpr Format kE5m2 = {"e5m2", 8, 5, 2, -14, 0, Nonfinite::kIeee, true};
inline constexpr Format kE4m3fnuz = {"e4m3fnuz", 8, 4, 3, -7, 0, Nonfinite::kNanMinusZero, true};
inline constexpr Format kE5m2fnuz = {"e5m2fnuz", 8, 5, 2, -15, 0, Nonfinite::kNanMinusZero, true};
inline constexpr Format kE2m3 = {"e2m3", 6, 2, 3, 0, 0, Nonfinite::kNone, true};
inline constexpr Format kE3m2 = {"e3m2", 6, 3, 2, -2, 0, Nonfinite::kNone, true};
inline constexpr Format kE2m1 = {"e2m1", 4, 2, 1, 0, 0, Nonfinite::kNone, true};
// Scales: ue8m0 has 8 exponent bits and no fraction; ue4m3 is e4m3 whose top bit is not read.
inline constexpr Format kUe8m0 = {"ue8m0", 8, 8, 0, -126, 0, Nonfinite::kNanAllOnes, false, false};
inline constexpr Format kUe4m3 = {"ue4m3", 8, 4, 3, -6, 0, Nonfinite::kNanAllOnes, false};
inline constexpr Format kS32 = {"s32", 32, 0, 0, 0, 0, Nonfinite::kNone, true};
inline constexpr Format kS16 = {"s16", 16, 0, 0, 0, 0, Nonfinite::kNone, true};
inline constexpr Format kS8 = {"s8", 8, 0, 0, 0, 0, Nonfinite::kNone, true};
inline constexpr Format kU8 = {"u8", 8, 0, 0, 0, 0, Nonfinite::kNone, false};
inline constexpr Format kS4 = {"s4", 4, 0, 0, 0, 0, Nonfinite::kNone, true};
inline constexpr Format kU4 = {"u4", 4, 0, 0, 0, 0, Nonfinite::kNone, false};
inline constexpr Format kB1 = {"b1", 1, 0, 0, 0, 0, Nonfinite::kNone, false};
// An absent operand: an integer of no bits, whose only word is 0. Conversions have no b and no c.
inline constexpr Format kAbsent = {"-", 0, 0, 0, 0, 0, Nonfinite::kNone, false};

// Every format, for `mmadiff list formats`, the table of instructions and the exhaustive tests.
inline constexpr const Format* kFormats[] = {
    &kF64,      &kF32,      &kTf32, &kTf32Amx, &kF16,  &kBf16,  &kE4m3,  &kE5m2,
    &kE4m3fnuz, &kE5m2fnuz, &kE2m3, &kE3m2,    &kE2m1, &kUe8m0, &kUe4m3, &kS32,
    &kS16,      &kS8,       &kU8,   &kS4,      &kU4,   &kB1};

MMADIFF_HD constexpr bool IsAbsent(const Format& f) { return f.bits == 0; }
MMADIFF_HD constexpr bool IsInteger(const Format& f) { return f.exponent_bits == 0; }
MMADIFF_HD constexpr bool HasInfinity(const Format& f) {
  return f.nonfinite == Nonfinite::kIeee || f.nonfinite == Nonfinite::kIeeeAllBits;
}
MMADIFF_HD constexpr uint64_t LowBits(int n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }
// Hex digits of a word in the line protocol, which writes whole bytes, and nothing for an absent
// operand.
MMADIFF_HD constexpr int HexDigits(const Format& f) { return (f.bits + 7) / 8 * 2; }
MMADIFF_HD constexpr int SignBit(const Format& f) { return f.bits - 1; }
MMADIFF_HD constexpr int MaxExponentField(const Format& f) { return (1 << f.exponent_bits) - 1; }

// Exponent of the largest finite number.
MMADIFF_HD constexpr int MaxExponent(const Format& f) {
  // The top field encodes no finite number if the format has infinities, or if it has a NaN but no
  // fraction bits.
  const bool top_is_special =
      HasInfinity(f) || (f.nonfinite == Nonfinite::kNanAllOnes && f.fraction_bits == 0);
  return f.min_exponent + MaxExponentField(f) - (top_is_special ? 2 : 1);
}

// Exponent of the smallest normal number. In most formats, that number has exponent field 1 and
// exponent min_exponent. In a format without a zero (ue8m0), field 0 is a normal number too, with
// exponent min_exponent - 1.
MMADIFF_HD constexpr int LeastExponent(const Format& f) {
  return f.has_zero ? f.min_exponent : f.min_exponent - 1;
}

// Magnitude bits (sign excluded, ignored bits zero) of the largest finite number.
MMADIFF_HD constexpr uint64_t MaxFiniteWord(const Format& f) {
  const uint64_t all = LowBits(f.exponent_bits + f.fraction_bits);
  const uint64_t specials = HasInfinity(f)                          ? 1ull << f.fraction_bits
                            : f.nonfinite == Nonfinite::kNanAllOnes ? 1
                                                                    : 0;
  return (all - specials) << f.ignored_bits;
}

enum class Kind : uint8_t { kFinite = 0, kInfinite = 1, kNan = 2 };

// value = (-1)^negative * significand * 2^(exponent - fraction bits of the format).
// Zeros and subnormals have the format's min_exponent (the "raw" exponent).
struct Unpacked {
  uint64_t significand;
  int32_t exponent;
  bool negative;
  Kind kind;
};

// `word` must be a bit pattern of the floating-point format `f`. Ignored bits are dropped first, so
// a tf32 NaN with a payload only in those bits decodes as infinity (except with kIeeeAllBits).
MMADIFF_HD constexpr Unpacked Decode(const Format& f, uint64_t word) {
  // Branches depend on the format, never on the word: random operands would cause mispredictions.
  const bool all_bits = f.nonfinite == Nonfinite::kIeeeAllBits;
  const bool ignored = all_bits && (word & LowBits(f.ignored_bits)) != 0;
  word >>= f.ignored_bits;
  const int width = f.fraction_bits + f.exponent_bits;  // at most 63
  const uint64_t magnitude = word & ((1ull << width) - 1);
  const uint64_t fraction = word & ((1ull << f.fraction_bits) - 1);
  const int field = static_cast<int>(magnitude >> f.fraction_bits);
  const bool negative = f.is_signed && (word >> width & 1);
  int kind = 0;
  if (HasInfinity(f)) {
    const bool top = field == MaxExponentField(f);
    kind = top + (top & ((fraction != 0) | ignored));
  } else if (f.nonfinite == Nonfinite::kNanAllOnes) {
    kind = 2 * (magnitude == (1ull << width) - 1);
  } else if (f.nonfinite == Nonfinite::kNanMinusZero) {
    kind = 2 * (negative & (magnitude == 0));
  }
  const bool subnormal = f.has_zero & (field == 0);
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
