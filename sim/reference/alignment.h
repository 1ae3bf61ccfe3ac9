// Alignment exponents, and sums of terms cut at one.
#pragma once

#include <optional>
#include <vector>

#include "sim/reference/step.h"

namespace mmadiff::reference {

// An exponent that a term offers for alignment; none leaves the others alone.
using Offer = std::optional<long>;

Offer Larger(const Offer& x, const Offer& y);

// By product_exponent and zero_term.
Offer OfferOf(const Algorithm& algorithm, const Product& product);

// Of an addend of a fused or scaled sum: none of zero; else by addend_exponent.
Offer AddendOffer(const Model& model, const Number& addend);

// algorithm.exponent_floor.
Offer FloorOffer(const Algorithm& algorithm);

// The sum of the terms, each rounded to a multiple of 2^(exponent - fraction_bits). Without an
// exponent every term must be zero.
Dyadic CutSum(const std::vector<Dyadic>& terms, const Offer& exponent, int fraction_bits,
              Rounding rounding);

}  // namespace mmadiff::reference
