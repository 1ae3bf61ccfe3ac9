// Block-scaled sums of NVIDIA's mxf8f6f4, mxf4 and mxf4nvf4: groups of products are added exactly,
// multiplied by the scales of A and B, then cut and added as in a fused sum.
#include <algorithm>
#include <cstdlib>

#include "sim/reference/alignment.h"
#include "sim/reference/families.h"

namespace mmadiff::reference {
namespace {

// Consecutive products under one pair of scales.
struct Group {
  std::vector<Product> products;  // without the scales
  Product scales;

  Dyadic sum() const {
    Dyadic sum;
    for (const Product& p : products) sum = sum + p.value();
    return sum;
  }
  // Whether a scale or all products are zero: a zero sum without cancellation.
  bool zero() const {
    return scales.zero() ||
           std::ranges::all_of(products, [](const Product& p) { return p.zero(); });
  }
};

// The group's offer by group_exponent; `algorithm` determines the products' exponents.
Offer OfferOf(const Algorithm& algorithm, const Group& group) {
  const long scales = group.scales.raw_exponent();
  if (algorithm.group_exponent == GroupExponent::kScales) return scales;
  Offer largest;
  for (const Product& p : group.products) largest = Larger(largest, OfferOf(algorithm, p));
  if (!largest) return largest;
  return *largest + scales;
}

Offer GroupOffer(const Algorithm& algorithm, const Group& group) {
  if (group.zero()) {
    // No product has a leading bit to normalize, or a scale is zero: only exponent fields count.
    if (algorithm.zero_term == ZeroTerm::kIgnored) return std::nullopt;
    Algorithm raw = algorithm;
    raw.product_exponent = ProductExponent::kRaw;
    return OfferOf(raw, group);
  }
  if (algorithm.zero_group == ZeroGroup::kIgnored && Sign(group.sum()) == 0) return std::nullopt;
  return OfferOf(algorithm, group);
}

uint64_t ScaledStep(const Model& model, const std::vector<Group>& groups, const Number& addend) {
  const Algorithm& algorithm = model.algorithm;
  // Specials and signs of zeros are those of products with four factors.
  Step step = {{}, {addend}};
  for (const Group& group : groups) {
    for (Product product : group.products) {
      product.factors.insert(product.factors.end(), group.scales.factors.begin(),
                             group.scales.factors.end());
      step.products.push_back(product);
    }
  }
  if (const auto special = SpecialWord(model, step)) return *special;

  Offer exponent = Larger(AddendOffer(model, addend), FloorOffer(algorithm));
  std::vector<Dyadic> terms = {addend.value()};
  for (const Group& group : groups) {
    exponent = Larger(exponent, GroupOffer(algorithm, group));
    terms.push_back(group.sum() * group.scales.value());
  }
  return SumWord(model, step,
                 CutSum(terms, exponent, algorithm.fraction_bits, algorithm.align_rounding));
}

// The group whose first product is k.
Group ReadGroup(const Model& model, const DotProductCase& dot, int k, int end) {
  const int scale = model.k + k / model.scale_block;  // scales follow the elements of a row
  Group group = {{}, {{Read(model.scale, dot.a[scale]), Read(model.scale, dot.b[scale])}}};
  for (; k < end; ++k) group.products.push_back(ReadProduct(model, dot, k));
  return group;
}

}  // namespace

uint64_t ScaledSum(const Model& model, const DotProductCase& dot) {
  const int group_terms = model.algorithm.group_terms;
  uint64_t d = 0;
  Number addend = Read(model.c, dot.c);
  for (int start = 0; start < model.k; start += model.algorithm.terms) {
    const int end = std::min(model.k, start + model.algorithm.terms);
    std::vector<Group> groups;
    for (int k = start; k < end; k += group_terms) {
      groups.push_back(ReadGroup(model, dot, k, std::min(end, k + group_terms)));
    }
    d = ScaledStep(model, groups, addend);
    addend = Read(model.d, d);
  }
  return d;
}

}  // namespace mmadiff::reference
