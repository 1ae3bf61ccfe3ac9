// Exact numbers of unlimited precision: significand * 2^exponent.
#pragma once

#include <gmpxx.h>

#include "sim/algorithm.h"

namespace mmadiff::reference {

struct Dyadic {
  mpz_class significand;  // signed; any number of trailing zeros
  long exponent = 0;
};

Dyadic operator+(const Dyadic& x, const Dyadic& y);
Dyadic operator*(const Dyadic& x, const Dyadic& y);

inline int Sign(const Dyadic& x) { return sgn(x.significand); }

// floor(log2 |x|); x must not be zero.
long FloorLog2(const Dyadic& x);

// x rounded to a multiple of 2^unit_exponent; unchanged if it already is one.
Dyadic RoundToMultiple(const Dyadic& x, long unit_exponent, Rounding rounding);

}  // namespace mmadiff::reference
