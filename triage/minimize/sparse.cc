#include "triage/minimize/sparse.h"

#include <algorithm>

#include "sim/simulate.h"
#include "sim/sparsity.h"

namespace mmadiff {
namespace {

// The smallest k that the model allows and that gives the same result, if all products from
// `active` on are +0 * +0. Within a step a second zero product of the same parity changes nothing.
// After two steps of zero products a third step changes nothing: the value is already rounded, cut
// or flushed, and a zero has lost its sign.
int ShortestK(const Model& m, int active) {
  const Algorithm& alg = m.algorithm;
  if (alg.family == Family::kTree) return m.k;
  if (alg.family == Family::kScaledSum || alg.grouping == Grouping::kPairsOfFour) return m.k;
  const int even = (active + 1) / 2 * 2;
  const bool chain = alg.family == Family::kFmaChain;
  const bool tree = alg.family == Family::kPairwiseSum;
  if (!chain && !tree && alg.terms >= m.k) return std::min(m.k, even + 2);
  const int terms = chain ? 2 : alg.terms;  // a step of each chain, if there are two
  return std::min(m.k, (active + terms - 1) / terms * terms + 2 * terms);
}

}  // namespace

uint64_t SimulateSparse(const Model& model, const DotProductCase& dot) {
  if (model.executions > 1 || IsSparse(model)) return Simulate(model, dot);
  int active = model.k;
  while (active > 0 && dot.a[active - 1] == 0 && dot.b[active - 1] == 0) --active;
  const int k = ShortestK(model, active);
  if (k == model.k) return Simulate(model, dot);
  Model shorter = model;
  shorter.k = k;
  return Simulate(shorter, dot);
}

}  // namespace mmadiff
