#include "triage/infer/stored_products.h"

#include <algorithm>

#include "sim/sparsity.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

Model AddingStored(Model m) {
  m.algorithm.selection = Selection::kStored;
  return m;
}

}  // namespace

Operation StoredProducts(const Operation& op) {
  Operation stored = op;
  if (IsSparse(op.model)) stored.model = SelectedModel(AddingStored(op.model));
  return stored;
}

std::vector<DotProductCase> AsSparse(const Operation& op, std::vector<DotProductCase> dots) {
  const Model& m = op.model;
  if (!IsSparse(m)) return dots;
  DotProductCase neutral = NeutralDotProduct(m);
  neutral.metadata.assign(m.groups(), LegalMetadata(m.sparse_group)[0]);
  const std::vector<int> k = SelectedK(AddingStored(m), neutral);
  for (DotProductCase& dot : dots) {
    DotProductCase sparse = neutral;
    sparse.c = dot.c;
    for (size_t i = 0; i < k.size(); ++i) {
      sparse.a[k[i]] = dot.a[i];
      sparse.b[k[i]] = dot.b[i];
    }
    std::copy(dot.a.begin() + k.size(), dot.a.end(), sparse.a.begin() + m.k);
    std::copy(dot.b.begin() + k.size(), dot.b.end(), sparse.b.begin() + m.k);
    dot = std::move(sparse);
  }
  return dots;
}

DotProductCase StoredOf(const Operation& op, const DotProductCase& dot) {
  return IsSparse(op.model) ? Selected(AddingStored(op.model), dot) : dot;
}

}  // namespace mmadiff
