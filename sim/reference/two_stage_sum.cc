// AMD CDNA 3: products are cut and added in one or two groups; their sum and the addend are cut
// again, mostly toward minus infinity; the result is rounded to the output.
#include <algorithm>

#include "sim/reference/alignment.h"
#include "sim/reference/families.h"

namespace mmadiff::reference {
namespace {

// A sum and the exponent at which its terms were aligned; nullopt if there was nothing to align.
struct Aligned {
  Dyadic sum;
  Offer exponent;
};

// Products of at least 2^(largest exponent + 1) become infinities if the algorithm requires it.
void Overflow(const Model& model, Step& step) {
  if (model.algorithm.product_overflow == ProductOverflow::kNone) return;
  for (Product& p : step.products) {
    if (p.infinite() || p.zero() || std::ranges::any_of(p.factors, IsNan)) continue;
    if (FloorLog2(p.value()) <= LargestExponent(model.d)) continue;
    p = {{{Class::kInfinity, p.negative(), 0, 0, 0, 0, 0}}};
  }
}

Aligned GroupSum(const Algorithm& algorithm, const std::vector<Product>& products) {
  Offer exponent;
  std::vector<Dyadic> values;
  for (const Product& p : products) {
    exponent = Larger(exponent, OfferOf(algorithm, p));
    values.push_back(p.value());
  }
  return {CutSum(values, exponent, algorithm.fraction_bits, algorithm.align_rounding), exponent};
}

// First stage: the groups, each cut at its own exponent, then all at the largest.
Aligned ProductSum(const Algorithm& algorithm, const Step& step, int first_k) {
  std::vector<Product> groups[2];
  for (size_t i = 0; i < step.products.size(); ++i) {
    // Grouped by k of the whole dot product, even if a step starts at an odd k.
    const bool odd = algorithm.grouping == Grouping::kEvenOdd && (first_k + i) % 2 != 0;
    groups[odd].push_back(step.products[i]);
  }
  const Aligned even = GroupSum(algorithm, groups[0]), odd = GroupSum(algorithm, groups[1]);
  const Offer exponent = Larger(even.exponent, odd.exponent);
  return {CutSum({even.sum, odd.sum}, exponent, algorithm.fraction_bits, algorithm.sum_rounding),
          exponent};
}

// Second stage: the sum of the products and the addend, finally cut to sum_fraction_bits.
Dyadic Joined(const Model& model, const Aligned& products, const Number& addend) {
  const Algorithm& algorithm = model.algorithm;
  const Rounding rounding = algorithm.sum_rounding;
  // A zero addend has its format's least exponent, which still limits how fine the cut can be.
  const bool silent = IsZero(addend) && algorithm.zero_addend == ZeroAddend::kIgnored;
  const Offer own = silent ? std::nullopt : Offer(addend.exponent);
  const Offer exponent = Larger(products.exponent, own);
  if (!exponent) return {};
  const long unit = *exponent - algorithm.fraction_bits;
  // An addend below half of the last kept place: cutting it down would still take one unit off the
  // sum.
  const bool dropped =
      algorithm.small_addend == SmallAddend::kDropped && addend.exponent < unit - 1;
  const Dyadic c = dropped ? Dyadic{} : RoundToMultiple(addend.value(), unit, rounding);
  const Dyadic s =
      RoundToMultiple(products.sum, *exponent - algorithm.sum_fraction_bits - 1, rounding) + c;
  if (Sign(s) == 0) return s;
  // The sum may have gained or lost leading digits since the exponent was chosen.
  const long leading = std::max<long>(FloorLog2(s), model.d.min_exponent);
  return RoundToMultiple(s, leading - algorithm.sum_fraction_bits, rounding);
}

uint64_t TwoStageStep(const Model& model, const Step& step, int first_k) {
  Step checked = step;
  Overflow(model, checked);
  if (const auto special = SpecialWord(model, checked)) return *special;
  const Aligned products = ProductSum(model.algorithm, step, first_k);
  return SumWord(model, step, Joined(model, products, step.addends[0]));
}

}  // namespace

uint64_t TwoStageSum(const Model& model, const DotProductCase& dot) {
  uint64_t d = dot.c;
  for (int start = 0; start < model.k; start += model.algorithm.terms) {
    Step step = {{}, {Read(model.d, d)}};
    for (int k = start; k < std::min(model.k, start + model.algorithm.terms); ++k) {
      step.products.push_back(ReadProduct(model, dot, k));
    }
    d = TwoStageStep(model, step, start);
  }
  return d;
}

}  // namespace mmadiff::reference
