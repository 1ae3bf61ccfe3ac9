#include "sim/reference/reference.h"

#include <cstdlib>

#include "sim/reference/families.h"

namespace mmadiff {

uint64_t ReferenceDotProduct(const Model& model, const DotProductCase& dot) {
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
    case Family::kNone:  // there is nothing to compute
      break;
  }
  std::abort();
}

}  // namespace mmadiff
