#include "triage/minimize/target.h"

#include <algorithm>

#include "sim/simulate.h"
#include "triage/explain.h"
#include "triage/minimize/sparse.h"
#include "triage/verdict.h"

namespace mmadiff {

bool Target::Possible(const DotProductCase& dot) const {
  if (!explained()) return true;
  const uint64_t predicted = SimulateSparse(*explanation_, dot);
  for (size_t i = 0; i < rivals_.size(); ++i) {
    if (!SameResult(*op_, SimulateSparse(rivals_[i], dot), predicted)) continue;
    std::swap(rivals_[i], rivals_[i / 2]);
    return false;
  }
  return true;
}

bool Target::Holds(const DotProductCase& dot, uint64_t device) const {
  if (explained() && !Gives(*op_, *explanation_, dot, device)) return false;
  const auto gives = [&](const Model& rival) { return Gives(*op_, rival, dot, device); };
  if (std::ranges::any_of(rivals_, gives)) return false;
  return difference_class_ == DifferenceClass::kNone ||
         ClassOf(op_->model.d, Simulate(op_->model, dot), device) == difference_class_;
}

}  // namespace mmadiff
