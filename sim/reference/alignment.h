// Alignment exponents, and sums of terms that are cut at one.
#pragma once

#include <optional>
#include <vector>

#include "sim/reference/step.h"

namespace mmadiff::reference {

// The exponent that a term offers for alignment; nullopt has no effect.
using Offer = std::optional<long>;

Offer Larger(const Offer& x, const Offer& y);

// The offer of a product, by product_exponent and zero_term.
Offer OfferOf(const Algorithm& algorithm, const Product& product);

// The offer of an addend of a fused or scaled sum: nullopt for a zero, else by addend_exponent.
Offer AddendOffer(const Model& model, const Number& addend);

// The offer of algorithm.exponent_floor.
Offer FloorOffer(const Algorithm& algorithm);

// The sum of the terms, each rounded to a multiple of 2^(exponent - fraction_bits). Without an
// exponent, every term must be zero.
Dyadic CutSum(const std::vector<Dyadic>& terms, const Offer& exponent, int fraction_bits,
              Rounding rounding);

}  // namespace mmadiff::reference
