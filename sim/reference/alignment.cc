#include "sim/reference/alignment.h"

#include <algorithm>
#include <cstdlib>

namespace mmadiff::reference {

Offer Larger(const Offer& x, const Offer& y) {
  if (!x || !y) return x ? x : y;
  return std::max(*x, *y);
}

namespace {

// The exponent of the number in binary16; a number below its range keeps its own exponent.
long HalfExponent(const Number& x) {
  constexpr long kLeast = -14;  // IEEE 754-2019, table 3.5
  if (x.exponent < kLeast) return x.exponent;
  return IsZero(x) ? kLeast : std::max(FloorLog2({x.significand, x.ulp}), kLeast);
}

}  // namespace

Offer OfferOf(const Algorithm& algorithm, const Product& p) {
  if (p.zero() && algorithm.zero_term == ZeroTerm::kIgnored) return std::nullopt;
  if (algorithm.product_exponent == ProductExponent::kAsF16) {
    long exponent = 0;
    for (const Number& x : p.factors) exponent += HalfExponent(x);
    return exponent;
  }
  const bool normalized = algorithm.product_exponent == ProductExponent::kNormalized;
  // A zero has no leading bit to normalize: it can raise the maximum only by its exponent fields.
  return normalized && !p.zero() ? FloorLog2(p.value()) : p.raw_exponent();
}

// A subnormal of a narrow format has that format's least exponent, or its own exponent once
// widened.
Offer AddendOffer(const Model& model, const Number& addend) {
  if (IsZero(addend)) return std::nullopt;
  if (model.algorithm.addend_exponent == AddendExponent::kOwnFormat) return addend.exponent;
  return std::max<long>(FloorLog2(addend.value()), model.d.min_exponent);
}

Offer FloorOffer(const Algorithm& algorithm) {
  if (algorithm.exponent_floor == kNoFloor) return std::nullopt;
  return algorithm.exponent_floor;
}

Dyadic CutSum(const std::vector<Dyadic>& terms, const Offer& exponent, int fraction_bits,
              Rounding rounding) {
  Dyadic sum;
  for (const Dyadic& term : terms) {
    if (Sign(term) == 0) continue;
    if (!exponent) std::abort();
    sum = sum + RoundToMultiple(term, *exponent - fraction_bits, rounding);
  }
  return sum;
}

}  // namespace mmadiff::reference
