// One conversion between floating-point formats: the operand is flushed, rounded once to the digits
// of the output, brought into its range and encoded.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/fma_chain.h"
#include "sim/round.h"
#include "sim/trace.h"

namespace mmadiff {

// The NaN of a conversion, where `payload` has the width of the output's fraction. The NaN rule
// decides whether sign and payload matter. The largest number if the format has no NaN.
MMADIFF_HD constexpr uint64_t ConvertedNan(const Format& f, NanRule rule, bool negative,
                                           uint64_t payload) {
  const bool keeps = Propagates(rule);
  const uint64_t sign = keeps && negative && f.is_signed ? 1ull << SignBit(f) : 0;
  if (f.nonfinite == Nonfinite::kNone) return sign | MaxFiniteWord(f);
  if (f.nonfinite == Nonfinite::kNanMinusZero) return 1ull << SignBit(f);
  if (!keeps || f.nonfinite == Nonfinite::kNanAllOnes) return sign | DefaultNan(f, rule);
  return InfinityWord(f, negative) | (payload | 1ull << (f.fraction_bits - 1)) << f.ignored_bits;
}

// The result for an infinite operand, or for a finite one that rounds beyond the largest number.
MMADIFF_HD constexpr uint64_t BeyondRange(const Format& f, const Algorithm& alg, bool negative,
                                          bool infinite) {
  const Rounding away = negative ? Rounding::kDown : Rounding::kUp;
  const bool toward_zero =
      alg.output_rounding != Rounding::kNearestEven && alg.output_rounding != away;
  const bool largest = alg.saturation == Saturation::kAll ||
                       (!infinite && (alg.saturation == Saturation::kNumbers || toward_zero));
  if (!largest && HasInfinity(f)) return InfinityWord(f, negative);
  if (!largest && f.nonfinite != Nonfinite::kNone) {
    return ConvertedNan(f, alg.nan_rule, negative, 0);
  }
  return (negative ? 1ull << SignBit(f) : 0) | MaxFiniteWord(f);
}

// magnitude * 2^-shift rounded to an integer by output_rounding and ties.
MMADIFF_HD constexpr Shifted<uint64_t> RoundedByTies(const Algorithm& alg, uint64_t magnitude,
                                                     int shift, bool negative) {
  const bool tie = shift > 0 && shift < 64 && (magnitude & LowBits(shift)) == 1ull << (shift - 1);
  if (tie && alg.output_rounding == Rounding::kNearestEven && alg.ties == Ties::kAway) {
    return {(magnitude >> shift) + 1, true};
  }
  return ShiftRight<uint64_t>(magnitude, shift, alg.output_rounding, negative);
}

// Whether a number whose leading one is below the normal range is flushed: always, or unless it
// rounds into that range with an unbounded exponent.
MMADIFF_HD constexpr bool FlushesResult(const Format& f, const Algorithm& alg, bool negative,
                                        uint64_t magnitude, int lsb, int leading) {
  if (alg.output_subnormals == Subnormals::kKeep || leading >= LeastExponent(f)) return false;
  if (alg.tininess == Tininess::kBeforeRounding || leading != f.min_exponent - 1) return true;
  const int shift = leading - f.fraction_bits - lsb;
  const uint64_t unbounded = RoundedByTies(alg, magnitude, shift, negative).magnitude;
  return BitWidth(unbounded) <= f.fraction_bits + 1;
}

MMADIFF_HD constexpr uint64_t ConvertedZero(const Format& f, const Algorithm& alg, bool negative) {
  const bool has_sign = f.nonfinite != Nonfinite::kNanMinusZero &&
                        alg.output_subnormals != Subnormals::kFlushPositive;
  return negative && has_sign ? 1ull << SignBit(f) : 0;
}

// Rounds (-1)^negative * magnitude * 2^lsb, which is not zero, and encodes it.
MMADIFF_HD constexpr uint64_t RoundedNumber(const Format& f, const Algorithm& alg, bool negative,
                                            uint64_t magnitude, int lsb, bool* inexact) {
  const int leading = BitWidth(magnitude) - 1 + lsb, least = LeastExponent(f);
  *inexact = true;
  // Without a zero, small operands become the smallest number in every rounding mode.
  if (leading < least && !f.has_zero) return 0;
  if (FlushesResult(f, alg, negative, magnitude, lsb, leading)) {
    return ConvertedZero(f, alg, negative);
  }
  const int exponent = leading < least ? least : leading;
  const Shifted<uint64_t> r =
      RoundedByTies(alg, magnitude, exponent - f.fraction_bits - lsb, negative);
  // The leading one of a normal number adds one to the field; a carry adds one more.
  const int64_t field = static_cast<int64_t>(exponent - f.min_exponent) * (1ll << f.fraction_bits);
  const uint64_t word = static_cast<uint64_t>(field) + r.magnitude;
  if (word > MaxFiniteWord(f) >> f.ignored_bits) return BeyondRange(f, alg, negative, false);
  *inexact = r.inexact;
  if (word == 0 && f.has_zero) return ConvertedZero(f, alg, negative);
  return (negative ? 1ull << SignBit(f) : 0) | word << f.ignored_bits;
}

// Converts a decoded operand. An unsigned output takes the operand's magnitude, as NVIDIA's ue8m0
// does; rounding modes with a direction then apply to the magnitude.
template <class Trace>
MMADIFF_HD constexpr uint64_t Conversion(const Model& m, const Unpacked& operand, Trace& trace) {
  const Algorithm& alg = m.algorithm;
  const Unpacked a = Flushed(m.a, alg.input_subnormals, operand);
  const bool negative = a.negative && m.d.is_signed;
  const int lsb = a.exponent - m.a.fraction_bits;
  uint64_t word = 0;
  bool inexact = false;
  if (a.kind == Kind::kFinite) {
    trace(Event{Stage::kSum, 0, -1, a.negative, a.significand, lsb, false});
  }
  if (a.kind == Kind::kNan) {
    const int wider = m.d.fraction_bits - m.a.fraction_bits;
    const uint64_t payload = a.significand & LowBits(m.a.fraction_bits);
    word = ConvertedNan(m.d, alg.nan_rule, a.negative,
                        wider >= 0 ? payload << wider : payload >> -wider);
  } else if (negative && alg.relu == Relu::kClamp) {
    word = 0;
  } else if (a.kind == Kind::kInfinite) {
    word = BeyondRange(m.d, alg, negative, true);
  } else if (a.significand == 0) {
    word = ConvertedZero(m.d, alg, negative);
  } else {
    word = RoundedNumber(m.d, alg, negative, a.significand, lsb, &inexact);
  }
  const Stage stage = a.kind == Kind::kFinite ? Stage::kRounded : Stage::kSpecial;
  trace(Event{stage, 0, -1, false, word, 0, inexact});
  return word;
}

}  // namespace mmadiff
