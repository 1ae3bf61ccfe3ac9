#include "sim/reference/dyadic.h"

#include <algorithm>
#include <cstdlib>

namespace mmadiff::reference {
namespace {

mpz_class TimesPowerOfTwo(const mpz_class& x, long power) {
  mpz_class product;
  mpz_mul_2exp(product.get_mpz_t(), x.get_mpz_t(), power);
  return product;
}

bool IsOdd(const mpz_class& x) { return mpz_odd_p(x.get_mpz_t()) != 0; }

// Rounds floor + remainder / divisor, which is not an integer, down to floor or up to floor + 1.
mpz_class Choose(const mpz_class& floor, const mpz_class& remainder, const mpz_class& divisor,
                 Rounding rounding) {
  const mpz_class ceiling = floor + 1;
  switch (rounding) {
    case Rounding::kDown:
      return floor;
    case Rounding::kUp:
      return ceiling;
    case Rounding::kTowardZero:
      return sgn(floor) < 0 ? ceiling : floor;
    case Rounding::kToOdd:
      return IsOdd(floor) ? floor : ceiling;
    case Rounding::kNearestEven:
    case Rounding::kNearestAway: {
      const int half = cmp(mpz_class(remainder * 2), divisor);
      if (half != 0) return half < 0 ? floor : ceiling;
      if (rounding == Rounding::kNearestAway) return sgn(floor) < 0 ? floor : ceiling;
      return IsOdd(floor) ? ceiling : floor;
    }
  }
  std::abort();
}

}  // namespace

Dyadic operator+(const Dyadic& x, const Dyadic& y) {
  const long exponent = std::min(x.exponent, y.exponent);
  return {TimesPowerOfTwo(x.significand, x.exponent - exponent) +
              TimesPowerOfTwo(y.significand, y.exponent - exponent),
          exponent};
}

Dyadic operator*(const Dyadic& x, const Dyadic& y) {
  return {x.significand * y.significand, x.exponent + y.exponent};
}

long FloorLog2(const Dyadic& x) {
  if (Sign(x) == 0) std::abort();
  return static_cast<long>(mpz_sizeinbase(x.significand.get_mpz_t(), 2)) - 1 + x.exponent;
}

Dyadic RoundToMultiple(const Dyadic& x, long unit_exponent, Rounding rounding) {
  if (x.exponent >= unit_exponent) return x;
  const mpz_class divisor = TimesPowerOfTwo(1, unit_exponent - x.exponent);
  mpz_class floor, remainder;
  mpz_fdiv_qr(floor.get_mpz_t(), remainder.get_mpz_t(), x.significand.get_mpz_t(),
              divisor.get_mpz_t());
  if (sgn(remainder) == 0) return {floor, unit_exponent};
  return {Choose(floor, remainder, divisor, rounding), unit_exponent};
}

}  // namespace mmadiff::reference
