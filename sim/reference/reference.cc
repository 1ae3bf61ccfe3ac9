#include "sim/reference/reference.h"

#include <cstdlib>
#include <vector>

#include "sim/reference/families.h"
#include "sim/reference/reading.h"
#include "sim/reference/sparsity.h"

namespace mmadiff {

namespace {

// For each execution: its elements, then its scales.
uint64_t OfChain(const Model& chain, const DotProductCase& dot) {
  Model one = chain;
  one.executions = 1;
  one.k = chain.k / chain.executions;
  DotProductCase part = {{}, {}, dot.c};
  for (int i = 0; i < chain.executions; ++i) {
    const auto slice = [&](const std::vector<uint64_t>& words) {
      const auto elements = words.begin() + i * one.k;
      const auto scales = words.begin() + chain.k + i * one.scales();
      std::vector<uint64_t> of_part(elements, elements + one.k);
      of_part.insert(of_part.end(), scales, scales + one.scales());
      return of_part;
    };
    part.a = slice(dot.a);
    part.b = slice(dot.b);
    part.c = ReferenceDotProduct(one, part);
  }
  return part.c;
}

}  // namespace

uint64_t ReferenceDotProduct(const Model& given, const DotProductCase& words) {
  Model model = given;
  DotProductCase dot = words;
  reference::Select(model, dot);
  reference::Read(model, dot);
  if (model.executions > 1) return OfChain(model, dot);
  switch (model.algorithm.family) {
    case Family::kFmaChain:
      return reference::FmaChain(model, dot);
    case Family::kPairwiseSum:
      return reference::PairwiseSum(model, dot);
    case Family::kFusedSum:
      return reference::FusedSum(model, dot);
    case Family::kScaledSum:
      return reference::ScaledSum(model, dot);
    case Family::kExactSum:
      return reference::ExactSum(model, dot);
    case Family::kTwoStageSum:
      return reference::TwoStageSum(model, dot);
    case Family::kIntegerDot:
      return reference::IntegerDot(model, dot);
    case Family::kConversion:
      return reference::Conversion(model, dot);
    case Family::kTree:
      return reference::SumOfTree(model, dot);
    case Family::kNone:  // there is nothing to compute
      break;
  }
  std::abort();
}

}  // namespace mmadiff
