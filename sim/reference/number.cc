#include "sim/reference/number.h"

#include <algorithm>
#include <cstdlib>

namespace mmadiff::reference {
namespace {

// A word is sign | exponent field | fraction | ignored bits, the sign in the top bit.
uint64_t Compose(const Format& f, bool negative, uint64_t field, uint64_t fraction) {
  const uint64_t magnitude = ((field << f.fraction_bits) | fraction) << f.ignored_bits;
  return magnitude | (negative ? uint64_t{1} << (f.bits - 1) : 0);
}

uint64_t TopField(const Format& f) { return (uint64_t{1} << f.exponent_bits) - 1; }

// Results have formats with infinities; no operation has a different kind of output.
void RequireInfinity(const Format& f) {
  if (f.nonfinite != Nonfinite::kIeee) std::abort();
}

// x must be representable and not zero.
uint64_t Encode(const Format& f, const Dyadic& x) {
  const long exponent = std::max<long>(FloorLog2(x), f.min_exponent);
  const long ulp_exponent = exponent - f.fraction_bits;
  // In ulps: rounding leaves an exponent of at least one ulp; adding zero ulps makes it exactly
  // that.
  const Dyadic in_ulps =
      RoundToMultiple(x, ulp_exponent, Rounding::kTowardZero) + Dyadic{0, ulp_exponent};
  if (Sign(in_ulps + Dyadic{-x.significand, x.exponent}) != 0) std::abort();
  const mpz_class significand = abs(in_ulps.significand);
  const mpz_class one = mpz_class(1) << f.fraction_bits;
  if (significand < one) return Compose(f, Sign(x) < 0, 0, significand.get_ui());
  const mpz_class fraction = significand - one;
  return Compose(f, Sign(x) < 0, exponent - f.min_exponent + 1, fraction.get_ui());
}

// Whether the exact value, or the value rounded with an exponent without lower bound, is below the
// smallest normal number (IEEE 754-2019, 7.5).
bool IsTiny(const Format& f, const Algorithm& algorithm, const Dyadic& x) {
  const long exponent = FloorLog2(x);
  if (algorithm.tininess == Tininess::kBeforeRounding) return exponent < f.min_exponent;
  const Dyadic rounded =
      RoundToMultiple(x, exponent - algorithm.output_fraction_bits, algorithm.output_rounding);
  return FloorLog2(rounded) < f.min_exponent;
}

// The result of IEEE 754-2019, 7.4 for a finite value beyond the largest number: unless rounding is
// away from zero, the largest number with the algorithm's digits.
uint64_t OverflowWord(const Format& f, const Algorithm& algorithm, bool negative) {
  const Rounding rounding = algorithm.output_rounding;
  const bool away = rounding == Rounding::kNearestEven ||
                    rounding == (negative ? Rounding::kDown : Rounding::kUp);
  if (algorithm.range_overflow == RangeOverflow::kInfinity || away)
    return InfiniteWord(f, negative);
  const uint64_t digits = (uint64_t{1} << algorithm.output_fraction_bits) - 1;
  return Compose(f, negative, TopField(f) - 1,
                 digits << (f.fraction_bits - algorithm.output_fraction_bits));
}

// Whether a magnitude is the pattern of a NaN; `field`, `fraction` and `ignored` are its parts.
bool IsNanPattern(const Format& f, bool negative, uint64_t field, uint64_t fraction,
                  uint64_t ignored) {
  const bool top = field == TopField(f);
  switch (f.nonfinite) {
    case Nonfinite::kIeee:
      return top && fraction != 0;
    case Nonfinite::kIeeeAllBits:
      return top && (fraction != 0 || ignored != 0);
    case Nonfinite::kNanAllOnes:
      return top && fraction == (uint64_t{1} << f.fraction_bits) - 1;
    case Nonfinite::kNanMinusZero:
      return negative && field == 0 && fraction == 0;
    case Nonfinite::kNone:
      return false;
  }
  std::abort();
}

bool HasInfinities(const Format& f) {
  return f.nonfinite == Nonfinite::kIeee || f.nonfinite == Nonfinite::kIeeeAllBits;
}

}  // namespace

// One below the field of infinity; field 1 is emin.
long LargestExponent(const Format& f) {
  RequireInfinity(f);
  return f.min_exponent + static_cast<long>(TopField(f) - 1) - 1;
}

Number Read(const Format& f, uint64_t word) {
  const bool negative = f.is_signed && ((word >> (f.bits - 1)) & 1) != 0;
  const uint64_t fraction = (word >> f.ignored_bits) & ((uint64_t{1} << f.fraction_bits) - 1);
  const uint64_t field = (word >> (f.ignored_bits + f.fraction_bits)) & TopField(f);
  const uint64_t ignored = word & ((uint64_t{1} << f.ignored_bits) - 1);
  Number number = {Class::kNormal, negative, 0, 0, f.min_exponent, fraction, f.fraction_bits};
  if (IsNanPattern(f, negative, field, fraction, ignored)) {
    number.kind = Class::kNan;
    return number;
  }
  if (HasInfinities(f) && field == TopField(f)) {
    number.kind = Class::kInfinity;
    return number;
  }
  number.significand = static_cast<long>(fraction);
  if (field == 0 && f.has_zero) {
    number.kind = fraction == 0 ? Class::kZero : Class::kSubnormal;
  } else {
    number.significand += long{1} << f.fraction_bits;
    number.exponent = f.min_exponent + static_cast<long>(field) - 1;
  }
  if (negative) number.significand = -number.significand;
  number.ulp = number.exponent - f.fraction_bits;
  return number;
}

Number Flushed(Subnormals kind, const Number& x) {
  const bool zero = x.kind == Class::kZero;
  if (kind == Subnormals::kKeep || !(zero || x.kind == Class::kSubnormal)) return x;
  const bool negative = kind == Subnormals::kFlush && x.negative;
  return {Class::kZero, negative, 0, 0, x.exponent, 0, x.payload_bits};
}

uint64_t ZeroWord(const Format& f, bool negative) { return Compose(f, negative, 0, 0); }

uint64_t ZeroResult(const Format& f, const Algorithm& algorithm, bool negative) {
  const bool positive = algorithm.output_subnormals == Subnormals::kFlushPositive;
  return ZeroWord(f, negative && !positive);
}

uint64_t InfiniteWord(const Format& f, bool negative) {
  RequireInfinity(f);
  return Compose(f, negative, TopField(f), 0);
}

uint64_t DefaultNan(const Format& f, NanRule rule) {
  RequireInfinity(f);
  const uint64_t quiet = uint64_t{1} << (f.fraction_bits - 1);
  switch (rule) {
    case NanRule::kAllOnes:
      return Compose(f, false, TopField(f), (quiet << 1) - 1) |
             ((uint64_t{1} << f.ignored_bits) - 1);
    case NanRule::kQuietPositive:
      return Compose(f, false, TopField(f), quiet);
    case NanRule::kPropagate:
    case NanRule::kPropagateBca:
      return Compose(f, true, TopField(f), quiet);
  }
  std::abort();
}

uint64_t QuietedNan(const Format& f, const Number& nan) {
  RequireInfinity(f);
  const int widening = f.fraction_bits - nan.payload_bits;
  const uint64_t payload = widening >= 0 ? nan.payload << widening : nan.payload >> -widening;
  const uint64_t quiet = uint64_t{1} << (f.fraction_bits - 1);
  return Compose(f, nan.negative, TopField(f), payload | quiet);
}

uint64_t RoundedWord(const Format& f, const Algorithm& algorithm, const Dyadic& x, bool* zero) {
  const bool negative = Sign(x) < 0;
  const bool flush = algorithm.output_subnormals != Subnormals::kKeep && IsTiny(f, algorithm, x);
  const long exponent = std::max<long>(FloorLog2(x), f.min_exponent);
  const Dyadic rounded =
      RoundToMultiple(x, exponent - algorithm.output_fraction_bits, algorithm.output_rounding);
  *zero = flush || Sign(rounded) == 0;
  if (*zero) return ZeroResult(f, algorithm, negative);
  if (FloorLog2(rounded) > LargestExponent(f)) return OverflowWord(f, algorithm, negative);
  return Encode(f, rounded);
}

}  // namespace mmadiff::reference
