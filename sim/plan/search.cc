#include "sim/plan/search.h"

#include <algorithm>

#include "sim/plan/candidates.h"
#include "sim/plan/region_finder.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

bool Has(const ScaleMatrix& scales) { return scales.words.data != nullptr; }

// Why no plan can be sought with these operands; empty if one can.
std::string WhyNotAsked(const Matrices& m, const PlanQuestion& q) {
  if (q.has_beta != (m.c.data != nullptr)) return "beta needs C, and C needs a beta that is not 0";
  if (Has(m.scale_a) != Has(m.scale_b)) return "give scales of A and of B";
  if (Has(m.block_scale_a) != Has(m.block_scale_b)) return "give block scales of A and of B";
  if (Has(m.block_scale_a) != (q.block_scale != nullptr)) {
    return "block scales need their format, and that needs block scales";
  }
  const bool any = q.has_alpha || q.has_beta || m.bias.data != nullptr || Has(m.scale_a);
  return any && q.sum == nullptr ? "C, bias, scales, alpha and beta need the format of sums" : "";
}

UsedOperands UsedOf(const Matrices& m, const PlanQuestion& q) {
  UsedOperands used = {.alpha = q.has_alpha, .beta = q.has_beta};
  used.adds_c = q.has_beta && m.beta == IntegerWord(*q.sum, 1);
  used.bias = m.bias.data != nullptr;
  if (Has(m.scale_a)) used.scale_block = std::min(m.scale_a.k_each, m.scale_b.k_each);
  used.block_scale = q.block_scale;
  return used;
}

}  // namespace

PlanCandidates CandidatesFor(std::span<const Operation* const> operations, const Matrices& m,
                             const PlanQuestion& q) {
  PlanCandidates found = {{}, {}, WhyNotAsked(m, q)};
  if (!found.why_none.empty()) return found;
  const UsedOperands used = UsedOf(m, q);
  found.operations = OperationsFor(operations, *m.a_format, *m.b_format, *q.d, q.sum, used);
  if (found.operations.empty()) {
    found.why_none = WhyNoOperations(*m.a_format, *m.b_format, *q.d, q.sum, used);
    return found;
  }
  std::string why_not;
  for (Plan& plan : CandidatePlans(found.operations, m.k, *q.d, used)) {
    std::string why = WhyNotMatrices(plan, m);
    if (why.empty()) why = WhyNotScales(plan, m);
    if (why.empty()) found.plans.push_back(std::move(plan));
    if (why_not.empty()) why_not = std::move(why);
  }
  if (found.plans.empty()) {
    found.why_none =
        "no plan that is known reads these operands" + (why_not.empty() ? "" : ": " + why_not);
  }
  return found;
}

PlanSearch SearchPlans(const Matrices& matrices, const Words& d, const Format& format,
                       std::span<const Plan> candidates, const Execution& execution) {
  PlanSearch search = {FindPlans(matrices, d, format, candidates, execution), {}, {}};
  if (std::ssize(search.found.Left()) == search.found.tried) {
    search.deciding = WouldDecide(matrices, format, candidates, execution);
  }
  if (search.found.plans.empty()) {
    search.regions = FindRegions(matrices, d, format, candidates, execution);
  }
  return search;
}

}  // namespace mmadiff
