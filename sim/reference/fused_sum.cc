// The products of a step and its addend are rounded once, after the terms are cut at a common
// exponent (NVIDIA tensor cores) or exactly (AMD CDNA 1).
#include <algorithm>
#include <numeric>

#include "sim/reference/alignment.h"
#include "sim/reference/families.h"

namespace mmadiff::reference {
namespace {

uint64_t FusedStep(const Model& model, const Step& step) {
  if (const auto special = SpecialWord(model, step)) return *special;
  const Algorithm& algorithm = model.algorithm;
  const Number& addend = step.addends[0];
  Offer exponent = Larger(AddendOffer(model, addend), FloorOffer(algorithm));
  std::vector<Dyadic> terms = {addend.value()};
  for (const Product& p : step.products) {
    exponent = Larger(exponent, OfferOf(algorithm, p));
    terms.push_back(p.value());
  }
  return SumWord(model, step,
                 CutSum(terms, exponent, algorithm.fraction_bits, algorithm.align_rounding));
}

// Exact at any distance between the terms.
uint64_t ExactStep(const Model& model, const Step& step) {
  if (const auto special = SpecialWord(model, step)) return *special;
  Dyadic sum = step.addends[0].value();
  for (const Product& p : step.products) sum = sum + p.value();
  return SumWord(model, step, sum);
}

// The k of a dot product in the order in which a fused sum's steps take them.
std::vector<int> OrderOfK(const Model& model) {
  std::vector<int> first, second;
  for (int k = 0; k < model.k; ++k) {
    const bool late = model.algorithm.grouping == Grouping::kPairsOfFour && k % 4 >= 2;
    (late ? second : first).push_back(k);
  }
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Steps of `terms` products over the given k; `d` is the first addend.
uint64_t Steps(const Model& model, const DotProductCase& dot, const std::vector<int>& ks,
               uint64_t (*step_word)(const Model&, const Step&), Number addend) {
  // Steps pass words of format d, so bits lost by rounding stay lost.
  const size_t terms = model.algorithm.terms;
  uint64_t d = 0;
  for (size_t start = 0; start < ks.size(); start += terms) {
    Step step = {{}, {addend}};
    for (size_t i = start; i < std::min(ks.size(), start + terms); ++i) {
      step.products.push_back(ReadProduct(model, dot, ks[i]));
    }
    d = step_word(model, step);
    addend = Read(model.d, d);
  }
  return d;
}

// x + y rounded to nearest even with all digits of format d.
uint64_t LastAdd(Model model, uint64_t x, uint64_t y) {
  model.algorithm.output_rounding = Rounding::kNearestEven;
  model.algorithm.output_fraction_bits = model.d.fraction_bits;
  return IeeeWord(model, {{}, {Read(model.d, x), Read(model.d, y)}});
}

}  // namespace

uint64_t FusedSum(const Model& model, const DotProductCase& dot) {
  const std::vector<int> ks = OrderOfK(model);
  if (model.algorithm.addend_joins == AddendJoins::kFirstStep) {
    return Steps(model, dot, ks, FusedStep, Read(model.c, dot.c));
  }
  const Number zero = Read(model.d, ZeroWord(model.d, false));
  if (model.algorithm.addend_joins == AddendJoins::kLastAdd) {
    return LastAdd(model, dot.c, Steps(model, dot, ks, FusedStep, zero));
  }
  uint64_t sum = 0;
  for (size_t first = 0; first < ks.size(); first += model.algorithm.terms) {
    const size_t end = std::min(ks.size(), first + model.algorithm.terms);
    const std::vector<int> own(ks.begin() + first, ks.begin() + end);
    const uint64_t step = Steps(model, dot, own, FusedStep, zero);
    sum = first == 0 ? step : LastAdd(model, sum, step);
  }
  return LastAdd(model, dot.c, sum);
}

uint64_t ExactSum(const Model& model, const DotProductCase& dot) {
  std::vector<int> ks(model.k);
  std::iota(ks.begin(), ks.end(), 0);
  return Steps(model, dot, ks, ExactStep, Read(model.c, dot.c));
}

}  // namespace mmadiff::reference
