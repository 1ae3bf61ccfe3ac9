// Rows of decoded operands for processors with 32-bit registers: 8 bytes per operand; products, and
// sums of four products, fit 32 bits. Results equal the wide arithmetic bit for bit
// (narrow_row_test).
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/round.h"

namespace mmadiff {

// value = the signed significand, times 2^up in a row of A; 0 if the operand is not finite.
// Special exponents mark zeros, infinities and NaNs. No sum of two exponents that includes a
// special one can be mistaken for a different sum, and a zero never raises the alignment.
struct NarrowOperand {
  int32_t value;
  int32_t exponent;
};

inline constexpr int32_t kNarrowZero = -(1 << 20);   // +0; -0 is one less
inline constexpr int32_t kNarrowInfinity = 1 << 24;  // positive; negative is one more
inline constexpr int32_t kNarrowNan = 1 << 26;       // any sign
// Sums of two exponents: the least with an infinity or a NaN, and the least with a NaN.
inline constexpr int32_t kLeastNarrowSpecial = 1 << 23;
inline constexpr int32_t kLeastNarrowNan = 3 << 24;

// `x` must be neither zero nor a NaN.
MMADIFF_HD constexpr bool IsNegative(const NarrowOperand& x) {
  return x.exponent >= kLeastNarrowSpecial ? x.exponent != kNarrowInfinity : x.value < 0;
}

// x * 2^-shift rounded down, for any shift >= 0.
MMADIFF_HD constexpr int32_t ShiftDown(int32_t x, uint32_t shift) {
#if defined(__CUDA_ARCH__)
  int32_t result = 0;  // unlike the language's shift, the machine's is defined for any shift
  asm("shr.s32 %0, %1, %2;" : "=r"(result) : "r"(x), "r"(shift));
  return result;
#else
  return x >> (shift < 31 ? shift : 31);
#endif
}

// A row of A or a column of B in step order.
class NarrowRow {
 public:
  // `up` is 0 for a column of B.
  MMADIFF_HD constexpr NarrowRow(const NarrowOperand* operands, int up)
      : operands_(operands), up_(up) {}

  MMADIFF_HD constexpr const NarrowOperand& at(int i) const { return operands_[i]; }
  // As decoded, except for exponents of zeros and payloads of NaNs, on which no result depends.
  MMADIFF_HD constexpr Unpacked operator[](int i) const {
    const NarrowOperand x = operands_[i];
    if (x.exponent >= kLeastNarrowNan) return {1, 0, false, Kind::kNan};
    if (x.exponent >= kLeastNarrowSpecial) {
      return {1, 0, x.exponent != kNarrowInfinity, Kind::kInfinite};
    }
    if (x.value == 0) return {0, 0, x.exponent != kNarrowZero, Kind::kFinite};
    const uint32_t magnitude = static_cast<uint32_t>(x.value < 0 ? -x.value : x.value);
    return {magnitude >> up_, x.exponent, x.value < 0, Kind::kFinite};
  }
  MMADIFF_HD constexpr NarrowRow operator+(int i) const { return {operands_ + i, up_}; }

 private:
  const NarrowOperand* operands_;
  int up_;
};

// By how many bits products are shifted up so that alignment only ever shifts them down.
MMADIFF_HD constexpr int NarrowUp(const Model& m) {
  const int up = m.algorithm.fraction_bits - m.a.fraction_bits - m.b.fraction_bits;
  return up > 0 ? up : 0;
}

// Decoding constants of a floating-point format of at most 32 bits, not kIeeeAllBits. They are
// computed once; a GPU would otherwise compute them for every word. Masks and magnitudes are those
// of a word without its ignored bits.
struct NarrowFormat {
  int32_t fraction_bits, ignored_bits, min_exponent;
  int32_t up;  // left shift of values
  uint32_t sign, magnitude, fraction;
  uint32_t least_normal;   // magnitude; 0: all are normal
  uint32_t least_special;  // magnitude of the least infinity or NaN; ~0: none
  uint32_t infinity;       // its magnitude; ~0: none
  uint32_t minus_nan;      // the NaN that replaces -0; ~0: none
  bool normalizes;         // subnormals get a leading one and the matching exponent
};

// `rule` is the model's product_exponent. kAsF16 normalizes all subnormals of formats with a larger
// min_exponent than f16, which has room for them.
MMADIFF_HD constexpr NarrowFormat NarrowFormatOf(const Format& f, int up,
                                                 ProductExponent rule = ProductExponent::kRaw) {
  const int width = f.fraction_bits + f.exponent_bits;
  const uint32_t one = 1u << f.fraction_bits, all = (1u << width) - 1, none = ~0u;
  const uint32_t sign = f.is_signed ? 1u << width : 0;
  const uint32_t infinity =
      HasInfinity(f) ? static_cast<uint32_t>(MaxExponentField(f)) << f.fraction_bits : none;
  const uint32_t least_special = f.nonfinite == Nonfinite::kNanAllOnes ? all : infinity;
  const uint32_t minus_nan = f.nonfinite == Nonfinite::kNanMinusZero ? sign : none;
  const bool normalizes = NormalizesSubnormals(rule, f);
  return {f.fraction_bits, f.ignored_bits,       f.min_exponent, up,       sign,      all,
          one - 1,         f.has_zero ? one : 0, least_special,  infinity, minus_nan, normalizes};
}

// `word` is a bit pattern of the format. `scale` is added to the exponent of a finite operand.
MMADIFF_HD constexpr NarrowOperand DecodeNarrow(const NarrowFormat& f, uint32_t word, int scale) {
  const uint32_t bits = word >> f.ignored_bits, magnitude = bits & f.magnitude;
  const bool negative = (bits & f.sign) != 0;
  const bool normal = magnitude >= f.least_normal;
  uint32_t significand = (magnitude & f.fraction) + (normal ? f.fraction + 1 : 0);
  const int32_t field = static_cast<int32_t>(magnitude >> f.fraction_bits);
  int32_t exponent = f.min_exponent + scale + field - normal;
  if (f.normalizes && !normal) {
    const int up = f.fraction_bits + 1 - BitWidth(significand);
    significand <<= up;
    exponent -= up;
  }
  if (significand == 0) exponent = kNarrowZero - negative;
  int32_t value = static_cast<int32_t>(significand << f.up);
  if (magnitude >= f.least_special || (bits & (f.sign | f.magnitude)) == f.minus_nan) {
    exponent = magnitude == f.infinity ? kNarrowInfinity + negative : kNarrowNan;
    value = 0;
  }
  return {negative ? -value : value, exponent};
}

// Products that are added in 32 bits before they join a 64-bit sum. Most steps have a multiple.
inline constexpr int kNarrowTerms = 4;

// Most fraction bits of an addend or a result.
inline constexpr int kNarrowFraction = 23;

// Whether all subnormals of the format are normal in f16, or the format's own normal range reaches
// at least as low as that of f16.
constexpr bool FitsF16(const Format& f) {
  return f.min_exponent <= kF16.min_exponent ||
         f.min_exponent - f.fraction_bits >= kF16.min_exponent;
}

// Whether NarrowRow can be used: for models of kFusedSum, and of kScaledSum if scales are powers of
// two and each product is aligned separately. The exponents of the scales then join those of the
// elements of A and B.
constexpr bool HasNarrowRows(const Model& m) {
  const Algorithm& alg = m.algorithm;
  const int product_bits = m.a.fraction_bits + m.b.fraction_bits;
  const int bits = product_bits > alg.fraction_bits ? product_bits : alg.fraction_bits;
  const bool powers = alg.group_terms == 1 && alg.addend_joins == AddendJoins::kFirstStep &&
                      alg.grouping == Grouping::kConsecutive &&
                      alg.group_exponent == GroupExponent::kProducts &&
                      m.scale.fraction_bits == 0 && !m.scale.has_zero;
  return (alg.family == Family::kFusedSum || (alg.family == Family::kScaledSum && powers)) &&
         bits + 2 + 2 <= 31 && m.c.fraction_bits <= kNarrowFraction &&
         m.d.fraction_bits <= kNarrowFraction && m.a.nonfinite != Nonfinite::kIeeeAllBits &&
         m.b.nonfinite != Nonfinite::kIeeeAllBits &&
         (alg.product_exponent == ProductExponent::kRaw ||
          (alg.product_exponent == ProductExponent::kAsF16 && FitsF16(m.a) && FitsF16(m.b))) &&
         alg.zero_term == ZeroTerm::kIgnored && alg.align_rounding == Rounding::kTowardZero;
}

// A row of integers for a kScaledSum model with HasNarrowGroups(): k elements in units of the least
// number of their format, then significand and exponent of each scale (kNarrowNan: NaN).
class NarrowGroupRow {
 public:
  MMADIFF_HD constexpr explicit NarrowGroupRow(const int32_t* words) : words_(words) {}

  MMADIFF_HD constexpr int32_t element(int k) const { return words_[k]; }
  MMADIFF_HD constexpr NarrowOperand scale(const Model& m, int k) const {
    const int32_t* scale = words_ + m.k + 2 * (k / m.scale_block);
    return {scale[0], scale[1]};
  }

 private:
  const int32_t* words_;
};

// Bits of the format's largest number in units of its least.
constexpr int IntegerBits(const Format& f) {
  return f.fraction_bits + 1 + MaxExponent(f) - f.min_exponent;
}

// Whether sums of groups fit 32 bits, and only these sums and the scales decide.
constexpr bool HasNarrowGroups(const Model& m) {
  if (HasInfinity(m.scale)) return false;
  const Algorithm& alg = m.algorithm;
  int bits = IntegerBits(m.a) + IntegerBits(m.b);
  for (int terms = alg.group_terms; terms > 1; terms = (terms + 1) / 2) ++bits;
  return alg.family == Family::kScaledSum && m.a.nonfinite == Nonfinite::kNone &&
         m.b.nonfinite == Nonfinite::kNone && bits <= 31 &&
         alg.group_exponent == GroupExponent::kScales && alg.zero_term == ZeroTerm::kIgnored &&
         alg.zero_sign == ZeroSign::kPositive;
}

// The sum of `terms` products, each cut to a multiple of 2^lsb, in units of 2^lsb.
MMADIFF_HD constexpr int64_t NarrowSum(const Model& m, const NarrowRow& a, const NarrowRow& b,
                                       int terms, int lsb) {
  const int down = lsb + m.a.fraction_bits + m.b.fraction_bits + NarrowUp(m);
  const auto cut = [&](int i) {
    const NarrowOperand x = a.at(i), y = b.at(i);
    const int32_t product = x.value * y.value;
    // Rounds toward zero. For a negative product: subtract 1, shift down, add 1.
    const int32_t sign = product >> 31;
    const uint32_t shift = static_cast<uint32_t>(down - x.exponent - y.exponent);
    return ShiftDown(product + sign, shift) - sign;
  };
  int64_t sum = 0;
  int i = 0;
  MMADIFF_UNROLL(1)
  for (; i + kNarrowTerms <= terms; i += kNarrowTerms) {
    int32_t part = 0;
    MMADIFF_UNROLL(kNarrowTerms)
    for (int j = 0; j < kNarrowTerms; ++j) part += cut(i + j);
    sum += part;
  }
  MMADIFF_UNROLL(1)
  for (; i < terms; ++i) sum += cut(i);
  return sum;
}

}  // namespace mmadiff
