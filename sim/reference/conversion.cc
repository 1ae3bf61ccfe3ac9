// Conversions: IEEE 754-2019, 5.4.2, with the range and NaN rules of formats that lack infinities.
#include <cstdlib>

#include "sim/reference/families.h"
#include "sim/reference/number.h"

namespace mmadiff::reference {
namespace {

uint64_t Ones(int bits) { return bits == 0 ? 0 : ~uint64_t{0} >> (64 - bits); }

bool HasInfinities(const Format& f) {
  return f.nonfinite == Nonfinite::kIeee || f.nonfinite == Nonfinite::kIeeeAllBits;
}

// sign | exponent field and fraction | ignored bits.
uint64_t Pack(const Format& f, bool negative, uint64_t magnitude) {
  const uint64_t sign = negative && f.is_signed ? uint64_t{1} << (f.bits - 1) : 0;
  return sign | magnitude << f.ignored_bits;
}

// Exponent field and fraction of the largest finite number.
uint64_t LargestMagnitude(const Format& f) {
  const uint64_t all = Ones(f.exponent_bits + f.fraction_bits);
  if (HasInfinities(f)) return all - (uint64_t{1} << f.fraction_bits);
  return f.nonfinite == Nonfinite::kNanAllOnes ? all - 1 : all;
}

long LeastNormal(const Format& f) { return f.has_zero ? f.min_exponent : f.min_exponent - 1; }

// The value of an exponent field and a fraction.
Dyadic Value(const Format& f, uint64_t magnitude) {
  const long field = static_cast<long>(magnitude >> f.fraction_bits);
  mpz_class significand = magnitude & Ones(f.fraction_bits);
  const bool normal = field > 0 || !f.has_zero;
  if (normal) significand += mpz_class(1) << f.fraction_bits;
  return {significand, f.min_exponent + (normal ? field - 1 : 0) - f.fraction_bits};
}

Dyadic Negated(const Dyadic& x) { return {-x.significand, x.exponent}; }
int Compare(const Dyadic& x, const Dyadic& y) { return Sign(x + Negated(y)); }

// x >= 0, rounded to a multiple of 2^unit by the algorithm; `negative` is the sign of the operand.
Dyadic Rounded(const Algorithm& algorithm, const Dyadic& x, long unit, bool negative) {
  const Rounding rounding = algorithm.output_rounding;
  if (rounding == Rounding::kNearestEven && algorithm.ties == Ties::kAway) {
    const Dyadic low = RoundToMultiple(x, unit, Rounding::kTowardZero);
    const Dyadic half = {1, unit - 1};
    return Compare(x, low + half) >= 0 ? RoundToMultiple(x + half, unit, Rounding::kTowardZero)
                                       : low;
  }
  const Dyadic rounded = RoundToMultiple(negative ? Negated(x) : x, unit, rounding);
  return negative ? Negated(rounded) : rounded;
}

uint64_t NanWord(const Format& f, NanRule rule, bool negative, uint64_t payload, int width) {
  const bool keeps = rule == NanRule::kPropagate;
  switch (f.nonfinite) {
    case Nonfinite::kNone:
      return Pack(f, keeps && negative, LargestMagnitude(f));
    case Nonfinite::kNanMinusZero:
      return Pack(f, true, 0);
    case Nonfinite::kNanAllOnes:
      return Pack(f, keeps && negative, Ones(f.exponent_bits + f.fraction_bits));
    case Nonfinite::kIeee:
    case Nonfinite::kIeeeAllBits:
      break;
  }
  const uint64_t infinity = Ones(f.exponent_bits) << f.fraction_bits;
  if (rule == NanRule::kAllOnes) return Pack(f, false, infinity | Ones(f.fraction_bits));
  const uint64_t quiet = infinity | uint64_t{1} << (f.fraction_bits - 1);
  if (!keeps) return Pack(f, false, quiet);
  const int wider = f.fraction_bits - width;
  return Pack(f, negative, quiet | (wider >= 0 ? payload << wider : payload >> -wider));
}

// The word for an operand beyond the largest number.
uint64_t Beyond(const Model& m, bool negative, bool infinite) {
  const Algorithm& algorithm = m.algorithm;
  const Format& f = m.d;
  bool largest = algorithm.saturation == Saturation::kAll;
  if (!infinite) {
    largest |= algorithm.saturation == Saturation::kNumbers;
    switch (algorithm.output_rounding) {
      case Rounding::kNearestEven:
      case Rounding::kNearestAway:
        break;
      case Rounding::kTowardZero:
      case Rounding::kToOdd:
        largest = true;
        break;
      case Rounding::kDown:
        largest |= !negative;
        break;
      case Rounding::kUp:
        largest |= negative;
        break;
    }
  }
  if (largest || f.nonfinite == Nonfinite::kNone) return Pack(f, negative, LargestMagnitude(f));
  if (HasInfinities(f)) return Pack(f, negative, Ones(f.exponent_bits) << f.fraction_bits);
  return NanWord(f, algorithm.nan_rule, negative, 0, 0);
}

uint64_t Zero(const Model& m, bool negative) {
  const bool positive = m.algorithm.output_subnormals == Subnormals::kFlushPositive ||
                        m.d.nonfinite == Nonfinite::kNanMinusZero;
  return Pack(m.d, negative && !positive, 0);
}

// Whether x, which is below the normal range, is replaced by zero.
bool IsFlushed(const Model& m, const Dyadic& x, bool negative) {
  const Algorithm& algorithm = m.algorithm;
  if (algorithm.output_subnormals == Subnormals::kKeep || !m.d.has_zero) return false;
  if (algorithm.tininess == Tininess::kBeforeRounding) return true;
  const Dyadic unbounded = Rounded(algorithm, x, FloorLog2(x) - m.d.fraction_bits, negative);
  return FloorLog2(unbounded) < m.d.min_exponent;
}

// x > 0 in the output format.
uint64_t NumberWord(const Model& m, const Dyadic& x, bool negative) {
  const Format& f = m.d;
  const long floor = FloorLog2(x), least = LeastNormal(f);
  if (floor < least && !f.has_zero) return Pack(f, false, 0);
  if (floor < least && IsFlushed(m, x, negative)) return Zero(m, negative);
  const long unit = std::max(floor, least) - f.fraction_bits;
  const Dyadic rounded = Rounded(m.algorithm, x, unit, negative);
  if (Sign(rounded) == 0) return Zero(m, negative);
  if (Compare(rounded, Value(f, LargestMagnitude(f))) > 0) return Beyond(m, negative, false);
  // Words ascend with their values: bisection finds the one of this value.
  uint64_t low = 0, high = LargestMagnitude(f);
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (Compare(Value(f, middle), rounded) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (Compare(Value(f, low), rounded) != 0) std::abort();
  return Pack(f, negative, low);
}

}  // namespace

uint64_t Conversion(const Model& m, const DotProductCase& dot) {
  const Number a = Flushed(m.algorithm.input_subnormals, Read(m.a, dot.a[0]));
  if (a.kind == Class::kNan) {
    return NanWord(m.d, m.algorithm.nan_rule, a.negative, a.payload, a.payload_bits);
  }
  if (a.negative && m.algorithm.relu == Relu::kClamp && m.d.is_signed) return Zero(m, false);
  const bool negative = a.negative && m.d.is_signed;
  if (a.kind == Class::kInfinity) return Beyond(m, negative, true);
  if (a.kind == Class::kZero) return Zero(m, negative);
  const Dyadic x = a.value();
  return NumberWord(m, a.negative ? Negated(x) : x, negative);
}

}  // namespace mmadiff::reference
